"""Where the data sets come from: addresses, hashes, sizes."""

from dataclasses import dataclass

from lazyrich.tasks.in_parts import CIFAR5M_PARTS
from lazyrich.tasks.own_files import CIFAR10_FILE, CIFAR10_SHA256, GZIP_SHA256, IDX_SHA256


@dataclass(frozen=True)
class Source:
    """One data set that a reader can bring."""

    name: str
    content: str
    size: str  # of the files as they are fetched
    base: str = ""  # address of the folder they lie in; empty for what cannot be fetched
    files: tuple[str, ...] = ()
    how: str = "it comes with the package"  # what to do instead

    def digest(self, file: str) -> tuple[str, str] | None:
        """(algorithm, hexadecimal) of one of its files as it is fetched; of others the content is checked."""
        if self.name == "fashion-mnist":
            sha256 = GZIP_SHA256.get(file.removesuffix(".gz"))
            return ("sha256", sha256) if sha256 else None
        return DIGESTS.get(file)


_IDX = tuple(f"{stem}.gz" for stem in IDX_SHA256["mnist"])
SOURCES = {
    source.name: source
    for source in (
        Source("digits-stream", "8×8 digits, deformed without end", "in the package"),
        Source("mnist-stream", "28×28 digits, deformed without end", "in the package"),
        Source(
            "mnist",
            "70,000 digits, 28×28; 6,000 of them in the package",
            "12 MB",
            "https://ossci-datasets.s3.amazonaws.com/mnist",
            _IDX,
        ),
        Source(
            "fashion-mnist",
            "70,000 articles of clothing, 28×28",
            "31 MB",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
            _IDX,
        ),
        Source(
            "cifar10",
            "60,000 colour images, 32×32",
            "170 MB",
            "https://www.cs.toronto.edu/~kriz",
            (CIFAR10_FILE,),
        ),
        Source(
            "cifar5m",
            "6,002,688 generated colour images, 32×32",
            "18 GB",
            "https://storage.googleapis.com/gresearch/cifar5m",
            tuple(f"part{i}.npz" for i in range(CIFAR5M_PARTS)),
        ),
        Source(
            "mnist1m",
            "1,000,000 generated digits, 28×28",
            "3 to 6 GB",
            how="its authors' code generates MNIST_images_0.npz …, MNIST_labels_0.npy …",
        ),
        Source(
            "tiny-imagenet",
            "110,000 colour images of 200 classes, 64×64",
            "250 MB",
            "http://cs231n.stanford.edu",
            ("tiny-imagenet-200.zip",),
        ),
    )
}
DIGESTS = {
    CIFAR10_FILE: ("sha256", CIFAR10_SHA256),
    "tiny-imagenet-200.zip": ("md5", "90528d7ca1a48142e341f4ef8d21d0de"),
}
