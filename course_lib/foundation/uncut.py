"""A tokenizer as the audit and the shards need it. It stands alone, because the audit
runs where nothing else of the course is installed."""


def uncut(tokenizer: object) -> object:
    """Copy a tokenizer of `tokenizers` so that it neither truncates nor pads, and cuts
    a text in the same way each time."""
    tokenizer = type(tokenizer).from_str(tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Other models have none, and what Unigram draws isn't part of the copied text.
    if getattr(tokenizer.model, "dropout", None) is not None:
        tokenizer.model.dropout = None
    return tokenizer
