"""Lesson 07: a tokenizer built from parts, trained on documents, saved as one file, and wrapped for `transformers`.

A text passes five stages: the normalizer tidies it, the pre-tokenizer cuts it into pieces, the model cuts pieces
into tokens, the post-processor adds the end of the text; the decoder leads back. All five are in `tokenizer.json`.
What depends on where a text comes from, such as markup, is cleaned before, and is not part of that file.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from html.parser import HTMLParser
from itertools import batched, product

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tqdm.auto import tqdm
from transformers import PreTrainedTokenizerFast

from course_lib.arguments import check_integer
from course_lib.corpora import Document, shows, smallest_dtype

END_OF_TEXT = "<|endoftext|>"
PAD = "<|pad|>"
