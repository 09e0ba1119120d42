"""Small data sets in the formats of the large ones."""

import numpy as np
from PIL import Image


def idx(array):
    """An array of bytes as the content of an idx file."""
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def tiny_imagenet(root, classes=3, per_class=4, test=5):
    """A small one with its true folders; every picture is of one colour, its class in the red."""
    names = [f"n{12345678 + k}" for k in range(classes)]
    root.mkdir(parents=True, exist_ok=True)
    (root / "wnids.txt").write_text("\n".join(names) + "\n")
    for label, name in enumerate(names):
        (root / "train" / name / "images").mkdir(parents=True)
        for k in range(per_class):
            mode, colour = ("L", 60 * label) if k == 0 else ("RGB", (60 * label, 5 * k, 0))
            picture = Image.new(mode, (64, 64), colour)
            picture.save(root / "train" / name / "images" / f"{name}_{k}.JPEG", quality=95)
    (root / "val" / "images").mkdir(parents=True)
    rows = [f"val_{k}.JPEG\t{names[k % classes]}\t0\t0\t62\t62\n" for k in range(test)]
    (root / "val" / "val_annotations.txt").write_text("".join(rows))
    for k in range(test):
        Image.new("RGB", (64, 64), (60 * (k % classes), 0, 0)).save(root / "val/images" / f"val_{k}.JPEG")
    return dict(classes=classes, per_class=per_class, test=test)
