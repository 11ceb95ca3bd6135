"""Arguments that readers know from other programs, and what to write here instead.

`checked` and `named_elsewhere` answer with these words. They stand here and not beside
the functions, so that a lesson that shows a function shows nothing else.
"""

# Names of T, and of the step: nanoGPT, LLMs-from-scratch, "Dive into Deep Learning",
# trl, torchtune, and the examples of transformers.
_LENGTHS = (
    "block_size",
    "context_size",
    "max_seq_length",
    "max_seq_len",
    "seq_len",
    "seq_length",
    "sequence_length",
)
_CONTEXT = dict.fromkeys((*_LENGTHS, "max_length", "num_steps"), "use `context_length`")
_NUM_STEPS = dict.fromkeys(
    (*_LENGTHS, "max_length", "context_length"), "use `num_steps`, which is T"
)
_ROW = dict.fromkeys((*_LENGTHS, "chunk_size", "context_length"), "use `max_length`")
_STRIDE = {
    "step": "use `stride`",
    "overlap": "use `stride`, the step between starts: context_length - overlap",
    "overlap_size": "use `stride`, the step: context_length - overlap_size",
}
_OVERLAP = {
    "overlap_size": "use `overlap`",
    "stride": "use `overlap`, which is what tokenizers of `transformers` call a stride",
}
_ENDS = {
    "eos_token_id": "use `end_of_text_id`",
    "eot_token": "use `end_of_text_id`",
    "add_eos": "the tokenizer adds its ends, or `end_of_text_id` marks each end",
    "add_bos": "the tokenizer adds its beginnings, if it is made to",
}
_COLUMN = {
    "feature": "use `text_column`, the name of the column of texts",
    "text_field": "use `text_column`",
    "dataset_text_field": "use `text_column`",
}
_RANKS = {
    "num_replicas": "use `world_size`",
    "local_rank": "use `rank`, which is counted over all machines",
}
_GENERATOR = dict.fromkeys(
    ("seed", "base_seed", "random_state", "rng"),
    "use `generator`, as in torch.Generator().manual_seed(0)",
)
_BATCHES = {
    "ids": "the stream is called `corpus`",
    "device": "the batches are on the CPU: move each of them, `X.to(device)`",
    "max_tokens": "cut the stream yourself, `corpus[:max_tokens]`",
    "use_random_iter": "`seq_data_iter_random` is random, `seq_data_iter_sequential` "
    "is not",
}
_BASE_SEED = dict.fromkeys(
    ("generator", "seed", "random_state", "shuffle_seed"),
    "use `base_seed`, an integer: the order of epoch e depends on base_seed + e alone",
)
_SET_EPOCH = {"epoch": "call `set_epoch(epoch)`"}
_PROGRESS = {"show_progress": "use `progress`"}
_FOLDER = dict.fromkeys(
    ("data_dir", "dataset_dir", "folder", "output_dir", "path"), "use `out_dir`"
)
_COUNT = {"ids": "use `num_tokens`, which is len(ids)"}
_STREAM = dict.fromkeys(
    ("txt", "text", "tokenizer"),
    "it takes `ids`, which `encode_corpus(texts, tokenizer)` makes",
) | dict.fromkeys(("token_ids", "tokens", "corpus", "data"), "use `ids`")
# Of Forgather, trl and torchtune.
_PACKING = {
    "packing_strategy": "use `strategy`",
    "packed": "its rows are always packed; to pad each by itself, see PaddingCollator",
    "overflow": "use `split_long`: False truncates a longer document",
    "split_across_pack": "use `split_long`, which splits only documents that are "
    "longer than a row",
}
_ONE_PAD = {
    "padding": "`max_length` fills batches up to a fixed length",
    "return_tensors": "its batches are always PyTorch tensors",
    "pad_to_multiple_of": "`max_length` fills batches up to a fixed length",
    "mlm": "its labels are always those of next-token prediction",
}
_MARKS = dict.fromkeys(
    ("continuing_subword_prefix", "end_of_word_suffix"),
    "a space already marks where words begin; `build_tokenizer` of lesson 7 has it",
)
_TRAINING = {
    "initial_alphabet": "all 256 bytes are always in it, so that any text has tokens",
    "lowercase": "it would lose every capital letter, so lower the texts yourself",
    **dict.fromkeys(("files", "iterator", "dataset", "corpus", "text"), "use `texts`"),
    **_PROGRESS,
}

ELSEWHERE: dict[str, dict[str, str]] = {
    # lessons 2 to 4
    "count_windows": _CONTEXT | _STRIDE | _COUNT,
    "window_starts": _CONTEXT | _STRIDE | _COUNT,
    "gather_windows": _CONTEXT | _STREAM,
    "token_ledger": _CONTEXT,
    "SlidingWindowDataset": _CONTEXT | _STRIDE | _STREAM,
    "make_dataloader": {
        **dict.fromkeys(
            (*_CONTEXT, *_STRIDE, "stride", "context_length"),
            "give it to `SlidingWindowDataset`, whose windows this loader reads",
        ),
        **dict.fromkeys(
            ("ids", *_STREAM), "it takes the windows of a `SlidingWindowDataset`"
        ),
        **_BASE_SEED,
        **_RANKS,
        "epoch": "call `loader.set_epoch(epoch)`",
        "sampler": "use `order`, which makes the order of an epoch, and `rank`",
        "batch_sampler": "use `order`, which makes the order of an epoch",
        "collate_fn": "use `make_batch` of SlidingWindowDataset, or change the batches "
        "that you get",
    },
    "seq_data_iter_random": _NUM_STEPS | _GENERATOR | _BATCHES,
    "seq_data_iter_sequential": _NUM_STEPS | _GENERATOR | _BATCHES,
    "random_starts": _NUM_STEPS | _GENERATOR,
    "sequential_starts": _NUM_STEPS | _GENERATOR,
    # lessons 6 and 7
    "encode_corpus": _ENDS | _COLUMN | _PROGRESS,
    "train_byte_level_bpe": {
        **_TRAINING,
        "trim_offsets": "it moves offsets and changes no id. If you need it, set "
        "tokenizer.post_processor = "
        "tokenizers.processors.ByteLevel(trim_offsets=True)",
        **_MARKS,
        "dropout": "set `tokenizer.model.dropout` for as long as you want it",
        "length": "texts are counted where they have a length",
    },
    "build_tokenizer": {
        **_TRAINING,
        "trim_offsets": "it moves offsets and changes no id. If you need it, put "
        "tokenizers.processors.ByteLevel(trim_offsets=True) and "
        "tokenizer.post_processor, which ends each text, into a processors.Sequence",
        "add_prefix_space": "it adds none; `train_byte_level_bpe` of lesson 6 can",
        "unicode_normalizer": "it is always NFC; `train_byte_level_bpe` has others",
    },
    # lesson 8
    "count_chunks": _ROW | _OVERLAP,
    "chunk_ids": _ROW | _OVERLAP,
    "chunk_examples": {
        **_ROW,
        **_OVERLAP,
        **_ENDS,
        **_COLUMN,
        "return_overflowing_tokens": "all chunks are always returned",
        "truncation": "nothing is cut off: each document becomes chunks",
    },
    "StreamingTextDataset": {
        **_ROW,
        **_OVERLAP,
        **_ENDS,
        **_COLUMN,
        **_BASE_SEED,
        **_RANKS,
        **_SET_EPOCH,
        **dict.fromkeys(
            ("precompute_total_samples", "total_samples", "total_sample"),
            "call `count_chunks()` once, and `len` is known",
        ),
        "num_proc_for_counting": "call `count_chunks(num_proc=...)`",
        "hf_dataset": "use `dataset`",
        "shuffle": "use `base_seed`; with None, documents come in their order",
        "buffer_size": "use `base_seed`, which mixes all documents without a buffer",
    },
    "PaddingCollator": _ROW | _ONE_PAD,
    # lessons 9 and 10
    "pack_documents": _ROW | _PACKING,
    "assign_packs": _ROW | {"packing_strategy": "use `strategy`"},
    "pack_stream": _ROW,
    "pack_examples": {
        **_ROW,
        **_PACKING,
        **_ENDS,
        **_COLUMN,
        "feature": "the batch is `features`, and `text_column` names its column of "
        "texts",
        "shuffle_output": "shuffle the packs of the whole data set before you train",
        "stride": "pieces of a document don't overlap here; `chunk_examples` can do it",
        **dict.fromkeys(
            ("min_len", "max_len", "truncate_at"), "drop or cut texts before you pack"
        ),
    },
    "PackingCollator": {
        **_ROW,
        **_ONE_PAD,
        "ignore_index": "it is always -100",
        "truncation": "rows are never cut: pack them to the length that you want",
        "padding_free": "use `flatten`",
        "return_position_ids": "its batches always have them",
        "return_flash_attn_kwargs": "use `cu_seq_lens`",
        "separator_id": "the label of each document's first id is always -100",
    },
    # lesson 11
    "load_shard": {
        **_FOLDER,
        **dict.fromkeys(
            ("index", "shard", "shard_id", "shard_idx"),
            "use `shard_index`, as in load_shard(out_dir, 'train', shard_index=0)",
        ),
    },
    "ShardedStream": _FOLDER,
    "write_shards": {
        **_FOLDER,
        **_ENDS,
        **_COLUMN,
        **_PROGRESS,
        "dtype": "ids are uint16, or uint32 if the vocabulary needs it",
        "shard_tokens": "use `shard_size`",
        "val_fraction": "use `val_every`: 100 holds out one document in a hundred",
        **dict.fromkeys(
            ("num_proc", "num_workers"),
            "this process uses all cores; `python -m course_lib tokenize` has workers",
        ),
    },
    # lesson 13
    "MixtureOrder": {
        "probabilities": "use `weights`",
        "stopping_strategy": "`num_draws` says how long it is, and `max_epochs` how "
        "often a source may be read",
        **dict.fromkeys(_BASE_SEED, "use `base_seed`, an integer"),
    },
    "make_mixture_loader": {
        **dict.fromkeys(
            ("weights", "probabilities", "base_seed", "generator", "seed"),
            "the mixture has them: MixtureOrder(num_windows, weights, base_seed=0)",
        ),
        **_RANKS,
        "epoch": "a mixture is read once, and each of its sources counts its epochs",
    },
    # lesson 14
    "audit_loader": dict.fromkeys(
        ("loader", "dataloader", "dataset"),
        "use `make_loader`, a function that gets ids and returns one epoch of batches",
    ),
}
"""By the name of a function or class: names elsewhere, and what is said of each."""
