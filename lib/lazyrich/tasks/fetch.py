"""Downloads, when a reader asks for one: whole, of the right hash, unpacked without leaving the folder."""

import hashlib
import http.client
import shutil
import stat
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError, URLError

from lazyrich.tasks.disk import damaged, head
from lazyrich.tasks.mapped import whole_zip
from lazyrich.tasks.sources import Source

UNPACKED_LIMIT = 2**31  # bytes; TinyImageNet has a quarter of it
TIMEOUT = 60  # seconds without a byte


def download(address: str, target: Path, digest: tuple[str, str] | None = None) -> None:
    """Fetch one file: under a temporary name until it is whole and has its hash, then renamed.

    Args:
        address: http or https.
        target: where it goes; its folder exists.
        digest: (algorithm of hashlib, hexadecimal), or None where none is published.

    Raises OSError that names the address, or the target, and why.
    """
    if not address.startswith(("http://", "https://")):
        raise OSError(f"{address}: expected an address that begins with http:// or https://")
    draft, found = target.with_name(f".{target.name}.part"), hashlib.new(digest[0] if digest else "sha256")
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer, draft.open("wb") as file:
            length = answer.headers.get("Content-Length")
            if length is not None and int(length) > shutil.disk_usage(target.parent).free:
                raise OSError(f"{target}: {length} bytes to fetch, the disk has too few left")
            while piece := answer.read(2**20):
                found.update(piece)
                file.write(piece)
            if length is not None and file.tell() != int(length):
                raise OSError(f"{address}: {file.tell()} bytes came, expected {length}; try again")
        head(draft)
        if digest and found.hexdigest() != digest[1]:
            raise OSError(f"{address}: what came is not the published file ({digest[0].upper()} differs)")
        draft.replace(target)
    except HTTPError as error:
        raise OSError(f"{address}: the server answers {error.code} {error.reason}") from error
    except (URLError, http.client.HTTPException, TimeoutError) as error:
        raise OSError(f"{address}: cannot be fetched ({getattr(error, 'reason', error)})") from error
    finally:
        draft.unlink(missing_ok=True)


def fetch(source: Source, folder: Path, told: Callable[[str], None] = print) -> None:
    """Download the files of a data set that are not in the folder yet, and unpack what needs to be.

    Raises OSError that names what went wrong, also for a data set that cannot be fetched.
    """
    if not source.files:
        raise OSError(f"{source.name}: not fetched; {source.how}")
    folder.mkdir(parents=True, exist_ok=True)
    for name in source.files:
        if (folder / name).is_file():
            told(f"there already: {folder / name}")
            continue
        address = f"{source.base}/{name}"
        told(f"fetching {address}")
        download(address, folder / name, source.digest(name))
    if source.name == "tiny-imagenet" and not (folder / "tiny-imagenet-200" / "wnids.txt").is_file():
        told(f"unpacking into {folder}")
        unpack(folder / source.files[0], folder)


def unpack(path: Path, folder: Path, limit: int = UNPACKED_LIMIT) -> None:
    """Unpack a zip file whose members all stay inside the folder.

    Raises OSError, naming the file, before anything is written when a member leads out of the folder,
    is a link, or all are larger together than the limit; and for a file that is damaged.
    """
    with whole_zip(path) as archive:
        for entry in archive.infolist():
            place = (folder / entry.filename).resolve()
            if not place.is_relative_to(folder.resolve()) or "\\" in entry.filename:
                raise damaged(path, f"its member {entry.filename!r} leads out of the folder")
            if stat.S_ISLNK(entry.external_attr >> 16):
                raise damaged(path, f"its member {entry.filename!r} is a link")
        size = sum(entry.file_size for entry in archive.infolist())
        if size > min(limit, shutil.disk_usage(folder).free):
            raise OSError(f"{path}: {size} bytes unpacked, more than expected or than the disk has left")
        archive.extractall(folder)
