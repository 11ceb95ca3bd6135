"""What each shard is made of follows from sums. (What workers then do is tested with whole runs, in lesson 12.)"""

from collections import Counter

import numpy as np

from course_lib.token_shards.shard_files import ShardSettings
from course_lib.token_shards.shard_tasks import TaskResult, plan_shards


def test_what_each_shard_is_made_of_follows_from_sums():
    """Against streams of all tokens, each known by its task and its place there, that are simply cut."""
    draw = np.random.default_rng(0)
    for _ in range(50):
        val_every, size = int(draw.integers(1, 6)), int(draw.integers(1, 40))
        lengths = [draw.integers(1, 9, size=n).tolist() for n in draw.integers(0, 12, size=draw.integers(1, 9))]
        results, streams, number = [], {"train": [], "val": []}, 0
        settings = ShardSettings("uint16", "", None, size, val_every, None)
        for k, own in enumerate(lengths):
            tokens = tuple(sum(own[i::val_every]) for i in range(min(val_every, len(own))))
            results.append(TaskResult(k, "", len(own), tokens, "", ""))
            places = Counter()
            for length in own:
                number += 1
                split = settings.split_of(number)
                streams[split] += [(k, places[split] + i) for i in range(length)]
                places[split] += length
        planned = {"train": [], "val": []}
        for plan in plan_shards(results, settings):
            assert plan.index == len(planned[plan.split]) / size
            for part in plan.parts:
                planned[plan.split] += [(part.result.number, place) for place in range(part.start, part.stop)]
        assert planned == streams
