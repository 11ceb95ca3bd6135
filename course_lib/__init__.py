"""Feeding Language Models: how text becomes training batches.

A sampling scheme is a choice of start positions; one function turns starts into batches.

Ground floor   arguments, progress, corpora, shuffling, ledger, models
Lessons        next_token_shifting, sliding_windows, random_sampling, sequential_partitioning,
               stride_tradeoffs, bpe, tokenizer_pipeline
On top         training, plots, source, exercises

A lesson imports the ground floor and earlier lessons; nothing imports upward.
"""

__version__ = "0.1.0"
