"""Which compile units of a program hold addresses."""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator, Sequence

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.ranges import BaseAddressEntry

_RANGE = struct.Struct("<QQ")
#: Begin of a length that has 8 bytes.
_LONG = 0xFFFFFFFF


def units_of(
    dwarf: DWARFInfo, addresses: Sequence[int]
) -> Iterator[tuple[CompileUnit, list[int]]]:
    """Yield compile units with those of the addresses that they hold.

    Parameters
    ----------
    dwarf : DWARFInfo
    addresses : sequence of int
        Sorted.
    """
    found: dict[int, list[int]] = {}
    missing = set(addresses)
    for offset, begin, end in _ranges(dwarf):
        inside = _within(addresses, begin, end)
        if inside := [one for one in inside if one in missing]:
            found.setdefault(offset, []).extend(inside)
            missing.difference_update(inside)
    for offset, inside in found.items():
        yield dwarf.get_CU_at(offset), inside
    if not missing:
        return
    # Not all compilers write which unit has what: then each says it of itself.
    for unit in dwarf.iter_CUs():
        if unit.cu_offset in found:
            continue
        inside = [one for one in sorted(missing) if covers(unit.get_top_DIE(), one)]
        if inside:
            yield unit, inside
            missing.difference_update(inside)
        if not missing:
            return


def _within(addresses: Sequence[int], begin: int, end: int) -> Sequence[int]:
    first = bisect.bisect_left(addresses, begin)
    return addresses[first : bisect.bisect_left(addresses, end, first)]


def _ranges(dwarf: DWARFInfo) -> Iterator[tuple[int, int, int]]:
    """Yield offset of the unit, begin and end of each range of ``.debug_aranges``."""
    section = dwarf.debug_aranges_sec
    if section is None:
        return
    section.stream.seek(0)
    data = section.stream.read()
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        is_long = length == _LONG
        if is_long:
            (length,) = struct.unpack_from("<Q", data, at + 4)
        head = at + (12 if is_long else 4)
        end = min(head + length, len(data))
        offset_bytes = 8 if is_long else 4
        offset = int.from_bytes(data[head + 2 : head + 2 + offset_bytes], "little")
        first = head + 2 + offset_bytes + 2
        first = at + -(-(first - at) // _RANGE.size) * _RANGE.size
        whole = max(end - first, 0) // _RANGE.size * _RANGE.size
        for begin, size in _RANGE.iter_unpack(data[first : first + whole]):
            if size:
                yield offset, begin, begin + size
        at = max(end, head)


def covers(die: DIE, address: int) -> bool:
    """Say whether an entry is about code that an address is in."""
    attributes = die.attributes
    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        begin = attributes["DW_AT_low_pc"].value
        high = attributes["DW_AT_high_pc"]
        # An address itself, or a length.
        is_address = high.form.startswith("DW_FORM_addr")
        end = high.value if is_address else begin + high.value
        return bool(begin <= address < end)
    if "DW_AT_ranges" not in attributes:
        return False
    lists = die.cu.dwarfinfo.range_lists()
    if lists is None:
        return False
    top = die.cu.get_top_DIE().attributes
    base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
    where = attributes["DW_AT_ranges"].value
    unit = die.cu if isinstance(die.cu, CompileUnit) else None
    for entry in lists.get_range_list_at_offset(where, cu=unit):
        if isinstance(entry, BaseAddressEntry):
            base = entry.base_address
            continue
        shift = 0 if entry.is_absolute else base
        if entry.begin_offset + shift <= address < entry.end_offset + shift:
            return True
    return False
