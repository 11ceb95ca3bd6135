"""Feeding Language Models: how text becomes training batches.

A sampling scheme is a choice of start positions, and one function turns starts into
batches.

foundation/    what the lessons build on: checks of arguments, texts and tokens, orders,
               the ledger, models, packs, shards, and workers
lessons        next_token_shifting, sliding_windows, random_sampling,
               sequential_partitioning, stride_tradeoffs, bpe, tokenizer_pipeline,
               long_documents, document_packing, document_boundaries,
               token_shards, many_machines, mixing_sources, auditing_loaders
teaching/      what shows and judges them: training, tables, tokens, plots, play,
               source, checker, predict; lessons
experiments/   what the lessons measure: models trained, and their losses
exercises/     one module a lesson
commands/      what runs outside of notebooks: check, `blank`, book,
               nbgrader, scores, audit

Imports run foundation <- lessons <- teaching <- experiments, exercises <- commands. A
lesson imports earlier lessons, never a later one. Wrong arguments raise a TypeError or
a ValueError that names them; docstrings tell only what else may go wrong.
"""

__version__ = "0.1.0"
