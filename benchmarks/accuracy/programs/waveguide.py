"""Light in a straight waveguide, by finite differences in time.

``waveguide.py UNTIL RESOLUTION``. Debian: ``python3-meep-openmpi``.
"""

from __future__ import annotations

import sys

import meep


def main(until: float, resolution: int) -> None:
    guide = meep.Block(
        meep.Vector3(meep.inf, 1, meep.inf), material=meep.Medium(epsilon=12)
    )
    source = meep.Source(
        meep.ContinuousSource(frequency=0.15),
        component=meep.Ez,
        center=meep.Vector3(-9, 0),
    )
    simulation = meep.Simulation(
        cell_size=meep.Vector3(24, 12, 0),
        boundary_layers=[meep.PML(1.0)],
        geometry=[guide],
        sources=[source],
        resolution=resolution,
    )
    behind = meep.FluxRegion(center=meep.Vector3(8, 0), size=meep.Vector3(0, 4))
    flux = simulation.add_flux(0.15, 0.1, 20, behind)
    simulation.run(until=until)
    print(meep.get_fluxes(flux)[0])


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
