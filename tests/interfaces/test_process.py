import subprocess
import sys

from chapterhouse.interfaces.process import tuned_environment

CODE = """
import sys, threading
from chapterhouse.interfaces.process import tune_process
tune_process()
assert sys.getswitchinterval() < .001
kept = []
turn = threading.Barrier(8)
def work():
    turn.wait()
    kept.append(bytearray(100))
threads = [threading.Thread(target=work) for _ in range(8)]
[one.start() for one in threads]
[one.join() for one in threads]
print(len(kept))
"""


def test_a_tuned_process_takes_short_turns_and_works_as_before() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "8\n"


def test_the_environment_of_a_worker_keeps_what_the_user_has_set() -> None:
    tuned = tuned_environment({"HOME": "/home/ada", "MALLOC_ARENA_MAX": "9"})
    assert tuned["HOME"] == "/home/ada"
    assert tuned["MALLOC_ARENA_MAX"] == "9"
    assert int(tuned["MALLOC_MMAP_THRESHOLD_"]) > 0
