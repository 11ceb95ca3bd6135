"""Hostile calls of means and their intervals."""

TAKES_NO_DATA = {"Interval": "it is made by confidence_interval, from numbers that it has checked"}
CALLS = {
    "confidence_interval([2, 2])": (2.0, 0.0),
    "confidence_interval(np.array([1, 3], np.uint8))": (2.0, 12.7062),
    "confidence_interval(np.array([250, 252], np.uint8))": (251.0, 12.7062),
    "confidence_interval([1.0])": ValueError("values must be one number for each of at least 2 runs"),
    "confidence_interval([[1.0, 2.0]])": ValueError("got shape (1, 2)"),
    "confidence_interval(3.0)": ValueError("values must be one number for each of at least 2 runs"),
    "confidence_interval([1.0, nan])": ValueError("values must be finite"),
    "confidence_interval([1.0, -inf])": ValueError("values must be finite"),
    "confidence_interval(['1', '2'])": TypeError("values must be numbers"),
    "confidence_interval([True, False])": TypeError("values must be numbers"),
    "confidence_interval([None, 1.0])": TypeError("values must be numbers"),
    "confidence_interval([1 + 2j, 1.0])": TypeError("values must be numbers"),
    "t_quantile(np.uint8(4))": 2.7764,
    "round(t_quantile(10**30), 4)": 1.96,
}
