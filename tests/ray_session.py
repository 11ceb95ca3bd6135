"""What only a cluster shows, in one session of Ray with two nodes on this machine: `python ray_session.py FOLDER`.

The folder holds `documents.jsonl`, `tokenizer.json` and the shards of `write_shards` in `reference`. It is a process of
its own, since tests may not open sockets and Ray does. It prints a line of JSON: what was found out.
"""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from tokenizers import Tokenizer

from course_lib import many_machines
from course_lib.many_machines import tokenize_files
from course_lib.many_machines.executors import InThisProcess, RayExecutor, import_ray, run_in_order
from course_lib.many_machines.file_tasks import encode_task
from deadly import die, encode_or_die, refuse

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
SETTINGS = {"shard_size": 5_000, "val_every": 7}
TASK_BYTES = 20_000


def two_nodes(tries: int = 5):
    """Start a cluster as Ray's own tests do; None if this machine is too busy for that.

    Ray gives up a node whose helpers take longer than 15 seconds to import what they need (ray-project/ray#65983).
    """
    ray = import_ray()
    from ray.cluster_utils import Cluster

    for _ in range(tries):
        cluster = Cluster()
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=1, include_dashboard=False)
            ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
            return cluster
        except Exception as error:  # Ray raises this class itself
            cluster.shutdown()
            if "timed out" not in str(error).lower():
                raise
    return None


def content(folder: Path) -> dict[str, bytes]:
    """All files but a lock."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("[!.]*"))}


def tokenize(name: str, make_executor=RayExecutor) -> bool:
    """Tokenize the documents on the cluster, and say whether the shards are those of one machine."""
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    inputs, out = [FOLDER / "documents.jsonl"], FOLDER / name
    how = {"make_executor": make_executor, "task_bytes": TASK_BYTES, "progress": False}
    tokenize_files(inputs, tokenizer, out, **how, **SETTINGS)
    return content(out) == content(FOLDER / "reference")


def sleep_on_node(folder: str) -> str:
    """Write down on which node it runs, and take a while the first time."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    starts = Path(folder)
    starts.mkdir(exist_ok=True)
    (starts / f"{node}.{time.time_ns()}").touch()
    if len(list(starts.iterdir())) == 1:
        time.sleep(60)
    return node


def lose_a_node(cluster) -> bool:
    """Remove the node on which a task sleeps; the task must end on the other one."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    folder, second = FOLDER / "sleeps", next(iter(cluster.worker_nodes))
    # Softly: when that node is gone, Ray takes another one.
    there = NodeAffinitySchedulingStrategy(second.node_id, soft=True)
    with RayExecutor(scheduling_strategy=there) as executor:
        future = executor.submit(sleep_on_node, str(folder))
        while not (folder.exists() and list(folder.iterdir())):
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)
        return future.result(timeout=120) != second.node_id


def kill_the_run(address: str) -> bool:
    """Kill a run of the command line in the middle; it must be finished by another one, without the cluster.

    What is on the disk does not tell which of them wrote it, and this process has imported PyTorch already.
    """
    out = FOLDER / "killed"
    command = [sys.executable, "-m", "course_lib", "tokenize", str(FOLDER / "documents.jsonl")]
    command += ["--tokenizer", str(FOLDER / "tokenizer.json"), "--out", str(out), "--ray", "--quiet"]
    command += ["--shard-size", "5000", "--val-every", "7", "--task-bytes", str(TASK_BYTES)]
    run = subprocess.Popen(command, env={**os.environ, "RAY_ADDRESS": address})
    while not (FOLDER / "killed.pieces" / "00000.json").exists() and run.poll() is None:
        time.sleep(0.005)
    was_running = run.poll() is None
    run.kill()
    run.wait()
    unfinished = not (out / "manifest.json").exists()
    return was_running and unfinished and tokenize("killed", InThisProcess)


def main() -> None:
    cluster = two_nodes()
    if cluster is None:
        print(json.dumps(None))
        return
    found = {}
    found["same shards"] = tokenize("on_ray")
    many_machines.encode_task = partial(encode_or_die, 1)
    found["same shards after a worker was killed"] = tokenize("worker_killed")
    many_machines.encode_task = encode_task
    found["a task outlives its node"] = lose_a_node(cluster)
    try:
        list(run_in_order(refuse, [3], RayExecutor))
    except ValueError as error:
        found["wrong line"] = f"{type(error).__name__}: {error}"
    try:
        with RayExecutor(max_retries=0) as executor:
            executor.submit(die).result()
    except Exception as error:
        found["given up"] = type(error).__name__
    found["a killed run is finished"] = kill_the_run(cluster.address)
    import_ray().shutdown()
    cluster.shutdown()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
