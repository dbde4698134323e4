"""Lists of numbers as one line of text.

``4 4..1 7*3`` is 4, then 4 3 2 1, then three times 7. Fractions are written so that
reading gives the same float again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

#: Ranks of a run.
MOST_RANKS = 10_000_000
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
# Several numbers at once, each one that `float` reads, without a sign.
_PLAIN = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?(?: |$))+")
#: Beyond this a float does not hold every integer.
_EXACT = 1 << 53
#: Runs that are shorter stay as they are.
_SHORTEST_RUN = 4


class NumberError(ValueError):
    """A text is not the number or the list of numbers that was expected."""


def integer(text: str, least: int, most: int) -> int:
    """Read an integer.

    Raises
    ------
    NumberError
        When it is none, or outside `least` to `most`.
    """
    if not _INTEGER.fullmatch(text):
        raise NumberError(f"read {text[:60]!r}, expected an integer")
    number = int(text)
    if not least <= number <= most:
        raise NumberError(f"read {number}, expected {least} to {most}")
    return number


def real(text: str) -> float:
    """Read a finite number.

    Raises
    ------
    NumberError
        When it is none.
    """
    if _FLOAT.fullmatch(text):
        number = float(text)
        if math.isfinite(number):
            return number
    raise NumberError(f"read {text[:60]!r}, expected a number")


def amount(text: str) -> float:
    """Read a finite number that is not negative.

    Raises
    ------
    NumberError
        When it is none.
    """
    number = real(text)
    if number < 0:
        raise NumberError(f"read {text[:60]!r}, expected a number of at least 0")
    return number


def place_of(text: str, place: dict[int, int]) -> int:
    """Read a rank of a group and return its place there.

    Raises
    ------
    NumberError
        When it is none.
    """
    rank = integer(text, 0, MOST_RANKS)
    if rank not in place:
        raise NumberError(f"read rank {rank}, which is not in the group")
    return place[rank]


def runs(text: str, least: int, most: int, longest: int) -> list[tuple[int, int]]:
    """Read integers as runs: each number with its repeats.

    Parameters
    ----------
    text : str
    least, most : int
        Range of the numbers.
    longest : int
        Most numbers in all.

    Raises
    ------
    NumberError
        When the text is something else.
    """
    found: list[tuple[int, int]] = []
    for first, step, times in stretches(text, least, most, longest):
        if step:
            found += [(first + step * i, 1) for i in range(times)]
        else:
            found.append((first, times))
    return found


def stretches(
    text: str, least: int, most: int, longest: int
) -> list[tuple[int, int, int]]:
    """Read integers as stretches: first, step from one to the next, how many.

    They take no more memory than the text. See `runs` for parameters.

    Raises
    ------
    NumberError
        When the text is something else.
    """
    found: list[tuple[int, int, int]] = []
    length = 0
    for word in text.replace(",", " ").split():
        begin, dots, end = word.partition("..")
        number, star, repeats = word.partition("*")
        if dots:
            low, high = integer(begin, least, most), integer(end, least, most)
            step, times = 1 if high >= low else -1, abs(high - low) + 1
        else:
            times = integer(repeats, 1, longest) if star else 1
            low, step = integer(number, least, most), 0
        length += times
        if length > longest:
            raise NumberError(f"read more than {longest} numbers")
        found.append((low, step, times))
    return found


def integers(text: str, least: int, most: int, longest: int) -> list[int]:
    """Read integers, written out or as runs and ranges.

    Raises
    ------
    NumberError
        When the text is something else or holds more than `longest` numbers.

    Examples
    --------
    >>> integers("4 3..1 7*2", 0, 9, 100)
    [4, 3, 2, 1, 7, 7]
    """
    return listed(stretches(text, least, most, longest))


def listed(found: Iterable[tuple[int, int, int]]) -> list[int]:
    """Write out the stretches of `stretches`."""
    numbers: list[int] = []
    for first, step, times in found:
        end = first + step * times
        numbers += range(first, end, step) if step else [first] * times
    return numbers


def reals(text: str, longest: int) -> list[float | None]:
    """Read numbers that are not negative; ``-`` is None, ``0*8`` eight zeros.

    Raises
    ------
    NumberError
        When the text is something else or holds more than `longest` numbers.
    """
    words = text.split()
    if len(words) <= longest and _PLAIN.fullmatch(text):
        numbers: list[float | None] = [float(word) for word in words]
        if math.inf not in numbers:
            return numbers
    found: list[float | None] = []
    for word in words:
        number, star, repeats = word.partition("*")
        times = integer(repeats, 1, longest) if star else 1
        if len(found) + times > longest:
            raise NumberError(f"read more than {longest} numbers")
        found += [None if number == "-" else amount(number)] * times
    return found


def format_real(number: float) -> str:
    """Write a float so that reading gives it back, without needless digits.

    Examples
    --------
    >>> format_real(1700.0), format_real(0.1), format_real(1e300)
    ('1700', '0.1', '1e+300')
    """
    if number == int(number) and abs(number) < _EXACT:
        return str(int(number))
    return repr(float(number))


def format_runs(pairs: Iterable[tuple[int, int]]) -> str:
    """Write numbers with their repeats."""
    return " ".join(
        f"{number}*{times}" if times > 1 else str(number) for number, times in pairs
    )


def format_repeated(words: Sequence[str]) -> str:
    """Write words with their repeats.

    Examples
    --------
    >>> format_repeated(["0", "0", "5", "-"])
    '0*2 5 -'
    """
    parts: list[list[str]] = []
    for word in words:
        if parts and parts[-1][0] == word:
            parts[-1].append(word)
        else:
            parts.append([word])
    return " ".join(
        f"{part[0]}*{len(part)}" if len(part) > 1 else part[0] for part in parts
    )


def format_integers(numbers: Sequence[int]) -> str:
    """Write integers, with ranges and runs.

    Examples
    --------
    >>> format_integers([4, 3, 2, 1, 7, 7, 9])
    '4..1 7*2 9'
    """
    words: list[str] = []
    at = 0
    while at < len(numbers):
        length, step = _range_at(numbers, at)
        if step and length >= _SHORTEST_RUN:
            words.append(f"{numbers[at]}..{numbers[at + length - 1]}")
        elif not step and length > 1:
            words.append(f"{numbers[at]}*{length}")
        else:
            words.append(str(numbers[at]))
            length = 1
        at += length
    return " ".join(words)


def _range_at(numbers: Sequence[int], at: int) -> tuple[int, int]:
    """Return how many numbers from here on go up, down or stay, and which (1 -1 0)."""
    if at + 1 == len(numbers):
        return 1, 0
    step = numbers[at + 1] - numbers[at]
    if abs(step) > 1:
        return 1, 0
    end = at + 1
    while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
        end += 1
    return end - at, step
