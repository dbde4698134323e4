"""One self-contained page about a signature and its skeleton; pictures of phases.

In: `Signature`, the plan's `Report` and, when there are any, the `Answer` of kept
predictions and calibrations, measured shares and phases; or `Phases`; or a
`WorkloadTime`; or a `Model`. Out: HTML or SVG without anything to download.
"""
