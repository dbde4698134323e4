"""Tags are the fewest that let the messages match as they did."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.matching import match
from skelgen.symbols.cluster import cluster
from skelgen.symbols.tags import fewest_tags
from skelgen.symbols.thresholds import MOST_TELLING_TAGS
from tests import builders


def tags_of(text, column="tag"):
    events = builders.events(text)
    symbols = cluster(events, match(events.calls))
    return symbols.table[column][symbols.symbol].tolist(), symbols


def test_tags_go_where_messages_keep_their_order():
    tags, symbols = tags_of("""
        rank 0
          Send to=1 tag=17 bytes=8
          Send to=1 tag=18 bytes=8
        rank 1
          Recv from=0 tag=17 bytes=8
          Recv from=0 tag=18 bytes=8
    """)
    assert tags == [0, 0, 0, 0]
    assert len(symbols.table) == 2


def test_loop_indices_as_tags_are_one_symbol():
    builder = builders.EventsBuilder(2)
    for index in range(500):
        builder.call(0, "Send", peer=1, tag=index, size_bytes=8)
        builder.call(1, "Recv", peer=0, tag=index, size_bytes=8)
    events = builder.events()
    assert len(cluster(events, match(events.calls)).table) == 2


def test_tags_stay_where_messages_overtake_others():
    tags, _ = tags_of("""
        rank 0
          Send to=1 tag=17 bytes=8
          Send to=1 tag=18 bytes=8
        rank 1
          Irecv from=0 tag=18 bytes=8 as=a
          Irecv from=0 tag=17 bytes=8 as=b
          Waitall of=a,b
    """)
    assert tags == [17, 18, 18, 17, -1]


def test_the_choice_is_the_same_on_all_ranks_of_a_family():
    # Only rank 1 receives in another order than rank 0 sends in.
    tags, _ = tags_of("""
        rank 0
          Send to=1 tag=17 bytes=8
          Send to=1 tag=18 bytes=8
          Recv from=2 tag=17 bytes=8
          Recv from=2 tag=18 bytes=8
        rank 1
          Recv from=0 tag=18 bytes=8
          Recv from=0 tag=17 bytes=8
          Send to=2 tag=17 bytes=8
          Send to=2 tag=18 bytes=8
        rank 2
          Recv from=1 tag=17 bytes=8
          Recv from=1 tag=18 bytes=8
          Send to=0 tag=17 bytes=8
          Send to=0 tag=18 bytes=8
    """)
    assert tags == [17, 18, 17, 18, 18, 17, 17, 18, 17, 18, 17, 18]


def test_other_directions_and_families_choose_on_their_own():
    tags, _ = tags_of("""
        comm row members=0,1,2
        rank 0
          Send to=1 tag=17 bytes=8
          Send to=1 tag=18 bytes=8
          Send to=2 tag=17 bytes=8
          Send to=2 tag=18 bytes=8
          Send to=1 tag=17 bytes=8 comm=row
          Send to=1 tag=18 bytes=8 comm=row
        rank 1
          Recv from=0 tag=18 bytes=8
          Recv from=0 tag=17 bytes=8
          Recv from=0 tag=17 bytes=8 comm=row
          Recv from=0 tag=18 bytes=8 comm=row
        rank 2
          Recv from=0 tag=17 bytes=8
          Recv from=0 tag=18 bytes=8
    """)
    assert tags == [17, 18, 0, 0, 0, 0, 18, 17, 0, 0, 0, 0]


def test_both_ends_of_a_sendrecv_are_chosen_with_their_messages():
    text = """
        rank *
          Sendrecv to=+1 from=-1 tag=5 tag2=5 bytes=8
          Isend to=+1 tag=6 bytes=8 as=a
          Isend to=+1 tag=7 bytes=8 as=b
          Irecv from=-1 tag=7 bytes=8 as=c
          Irecv from=-1 tag=6 bytes=8 as=d
          Waitall of=a,b,c,d
        rank 2
          Barrier
        rank 0,1
          Barrier
    """
    assert tags_of(text)[0][:5] == [5, 6, 7, 7, 6]
    assert tags_of(text, "tag2")[0][0] == 5


def test_many_tags_are_numbered_anew():
    builder = builders.EventsBuilder(2)
    for index in range(0, 200, 2):
        builder.call(0, "Send", peer=1, tag=index, size_bytes=8)
        builder.call(0, "Send", peer=1, tag=index + 1, size_bytes=8)
        second = builder.call(1, "Irecv", peer=0, tag=index + 1, size_bytes=8)
        first = builder.call(1, "Irecv", peer=0, tag=index, size_bytes=8)
        builder.call(1, "Waitall", requests=[first, second])
    events = builder.events()
    symbols = cluster(events, match(events.calls))
    tags = symbols.table["tag"][symbols.symbol]
    assert tags[:200].tolist() == [0, 1] * 100
    assert tags[200:].tolist() == [1, 0, -1] * 100


def test_recorded_tags_that_not_every_mpi_has_become_small():
    tags, _ = tags_of("""
        rank 0
          Send to=1 tag=70000 bytes=8
          Send to=1 tag=80000 bytes=8
        rank 1
          Recv from=0 tag=80000 bytes=8
          Recv from=0 tag=70000 bytes=8
    """)
    assert tags == [0, 1, 1, 0]


def results_and_requests(tags: range | tuple[int, ...]) -> str:
    """Return a rank that takes messages with these tags from any source in turn."""
    own = [f"Recv from=*{w} tag={tag} bytes=8" for tag in tags for w in (1, 2)]
    lines = ["rank 0", *own, *(f"Send to={w} tag=9 bytes=8" for w in (1, 2))]
    for w in (1, 2):
        sent = [f"Send to=0 tag={tag} bytes=8" for tag in tags]
        lines += [f"rank {w}", *sent, "Recv from=0 tag=9 bytes=8"]
    return "\n".join(lines)


def test_a_few_tags_tell_what_a_receive_from_any_source_got():
    tags, _ = tags_of(results_and_requests((17, 18)))
    assert tags == [17, 17, 18, 18, 0, 0, 17, 18, 0, 17, 18, 0]


@pytest.mark.parametrize("known", [(17,), range(17, 17 + MOST_TELLING_TAGS + 1)])
def test_one_tag_or_many_tell_nothing(known):
    tags, _ = tags_of(results_and_requests(known))
    assert not any(tags)


def test_persistent_requests_keep_their_tags_where_there_are_several():
    tags, _ = tags_of("""
        rank 0
          Send_init to=1 tag=5 bytes=8 as=a
          Send_init to=1 tag=6 bytes=8 as=b
          Startall of=a,b
          Waitall of=a,b
        rank 1
          Irecv from=0 tag=6 bytes=8 as=a
          Irecv from=0 tag=5 bytes=8 as=b
          Waitall of=a,b
    """)
    assert tags == [5, 6, -1, -1, 6, 5, -1]


@given(st.lists(st.integers(0, 3), max_size=60), st.randoms())
def test_messages_of_one_channel_and_tag_arrive_in_order(channels, rng):
    channel = np.array(channels, np.int64)
    receive = list(range(len(channels)))
    rng.shuffle(receive)
    tag = fewest_tags(channel, np.array(receive, np.int64))
    last = {}
    for key, number, place in zip(channels, tag.tolist(), receive, strict=True):
        assert last.get((key, number), -1) < place
        # No smaller tag would do.
        for smaller in range(number):
            assert last[key, smaller] > place
        last[key, number] = place


@pytest.mark.parametrize("tag", ["3", "*3"])
def test_tags_of_wildcard_receives_are_those_of_their_messages(tag):
    tags, symbols = tags_of(f"""
        rank 0
          Send to=1 tag=3 bytes=8
          Send to=1 tag=4 bytes=8
        rank 1
          Irecv from=*0 tag=4 bytes=8 as=a
          Irecv from=*0 tag={tag} bytes=8 as=b
          Waitall of=a,b
    """)
    assert tags == [3, 4, 4, 3, -1]
    assert (symbols.table["peer"][symbols.symbol[2:4]] == 1).all()
