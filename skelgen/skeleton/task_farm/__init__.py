"""Let masters serve whichever worker comes first, as they did in the application.

In: `Program` in the recorded order. Out: programs with `Turn` and `Serving` where
another order cannot make anybody wait for ever, and the dealers whose order stays as it
was recorded.

What is recognised:

- A *dealer* receives from any source, or probes, and most of what it receives is
  answered by its next call. There may be several, with partners of their own.
- A *turn* is such a receive with all calls behind it that go on with the same partner:
  further parts of the question, an answer in any number of messages, a receipt. Between
  turns dealer and partners may compute.
- All turns of one kind have the same functions, communicator and datatypes. Sizes may
  vary. So may tags: the messages of turns then get tags of their own. A nonblocking
  call that is completed at once counts as the blocking one, a Sendrecv with the dealer
  as a send and a receive.
- Partners *share* the turns where one message of the answer can tell them whether to
  come again, and nothing but turns lies between the first and the last. An answer that
  is too short gets room for it.

What is not:

- Partners that do something else between turns, and answers in pieces of one byte: the
  partners come in any order, but as often as in the recording, and the plan says so.
- Turns in which a partner meets other ranks, or computes while a message is under way:
  the recorded order stays, and the plan says so.
- Receives that were posted early are from any source already in the signature
  (`skelgen.matching.posted_receives`). Those of a partner that are complete in
  another order than they were posted in stay where they are, and the plan says so.
- Persistent receives: the recorded order stays, and nothing says so.

Turns are kept or left out as a whole (`skelgen.skeleton.keep.units`). `plain_calls`,
`joined_receives` and `turn_tags` bring their calls into one form, `turns` divides them
and proves other orders, `worker_loops` and `merged_calls` write them.
Paper: Sodhi and Subhlok 2005, section III-C, has no rule for it.
"""
