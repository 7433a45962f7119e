"""PPC: a Gaussian mixture that listens to pairs."""

from coterie.mixture.ppc.ppc import PPC

__all__ = ["PPC"]
