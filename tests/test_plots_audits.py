"""Pictures of audits by what they hold: the ledger, where rows begin, and what each rank reads."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch

from course_lib.teaching import plot_audit
from figures import audited, drawn, keys, row_names


def steps(axes: Axes) -> list[tuple[list[float], list[float]]]:
    """The values and the edges of inputs, losses and targets, in the order in which they were drawn."""
    found = [patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)]
    return [(data.values.tolist(), data.edges.tolist()) for data in found]


def spans(axes: Axes) -> list[list[tuple[float, float]]]:
    """The bars of each rank, first those that it reads alone, and then those that others also read."""
    return [
        [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in c.get_paths()] for c in axes.collections
    ]


def test_the_ledger_is_that_of_the_audit_token_by_token():
    audit = audited([0, 8, 4, 20, 20])
    (inputs, edges), (lost, _), (targets, _) = steps(plot_audit(audit).axes[0])
    assert edges == np.arange(-0.5, 60).tolist()
    assert inputs == audit.ledger.as_input.tolist()
    assert targets == audit.ledger.as_target.tolist()
    assert lost == [float(times == 0) for times in targets]
    assert max(targets) == 2


def test_of_a_long_stream_the_ledger_is_drawn_in_steps_and_the_figure_says_so():
    audit = audited(range(0, 995, 10), num_tokens=1_000)
    figure = plot_audit(audit)
    for (values, edges), uses in zip(
        steps(figure.axes[0]),
        (audit.ledger.as_input, audit.ledger.as_target == 0, audit.ledger.as_target),
        strict=True,
    ):
        assert values == pytest.approx(uses.reshape(200, 5).mean(axis=1).tolist())
        assert edges == (5.0 * np.arange(201) - 0.5).tolist()
    assert figure.get_supxlabel() == "each step is the mean of 5 tokens"


def test_one_rank_has_two_panels_and_a_dot_for_each_row_without_a_name():
    figure = plot_audit(audited([30, 0, 8, 4]))
    _, order = figure.axes
    (dots,) = order.lines
    assert dots.get_xdata().tolist() == [0, 1, 2, 3]
    assert dots.get_ydata().tolist() == [30, 0, 8, 4]
    assert order.get_ylim() == (0, 60)
    assert order.get_legend() is None
    assert keys(figure) == ["as input", "as target", "never a target"]
    assert figure.get_supxlabel() == ""


def test_three_ranks_have_rows_with_what_each_reads_and_what_they_share():
    figure = plot_audit(audited([0, 8, 16], [4, 8, 12], [40, 36, 32]))
    _, order, ranks = figure.axes
    assert [line.get_ydata().tolist() for line in order.lines] == [[0, 8, 16], [4, 8, 12], [40, 36, 32]]
    assert [text.get_text() for text in order.get_legend().get_texts()] == ["rank 0", "rank 1", "rank 2"]
    assert row_names(ranks) == ["rank 0", "rank 1", "rank 2"]
    assert ranks.yaxis_inverted()  # rank 0 above
    alone = [[(-0.5, 3.5), (15.5, 19.5)], [(3.5, 7.5), (11.5, 15.5)], [(31.5, 43.5)]]
    shared = [[(7.5, 11.5)], [(7.5, 11.5)], []]
    assert spans(ranks) == [bars for both in zip(alone, shared, strict=True) for bars in both]
    assert keys(figure)[-1] == "read by several ranks"


def test_ranks_that_share_nothing_need_no_color_for_it():
    figure = plot_audit(audited([0, 8], [4, 12]))
    assert spans(figure.axes[2])[1::2] == [[], []]
    assert "read by several ranks" not in keys(figure)


def test_of_a_huge_audit_some_rows_and_eight_ranks_are_drawn():
    figure = drawn("plot_audit, many")
    _, order, ranks = figure.axes
    assert len(order.lines) == len(row_names(ranks)) == 8
    assert order.lines[5].get_xdata().tolist() == list(range(0, 3_333, 2))
    assert order.lines[5].get_ydata().tolist() == list(range(5, 39_990, 24))
    assert figure.get_supxlabel() == (
        "each step is the mean of 200 tokens; one dot for every 2 rows; the first 8 of 12 ranks"
    )
    # ranks that are not drawn count, too: each token is read by four
    assert keys(figure)[-1] == "read by several ranks"
