"""Measurements on networks as they are: tangent kernels, feature speeds and angles, calibration."""

from lazyrich.measure.bfk import batch_covariance, conditioning_bound, feature_kernel, moment_cosine
from lazyrich.measure.calibration import balanced_rates
from lazyrich.measure.feature_speeds import (
    FeaturePasses,
    FeatureSpeed,
    feature_passes,
    feature_speed,
    feature_speed_probe,
    path_contributions,
)
from lazyrich.measure.kernels import alignment, empirical_ntk
from lazyrich.measure.nodes import Nodes, find_nodes
from lazyrich.measure.sharpness import Eigenvalues, SpectralMeasure, spectral_density, top_eigenvalues

__all__ = [
    "Eigenvalues",
    "FeaturePasses",
    "FeatureSpeed",
    "Nodes",
    "SpectralMeasure",
    "alignment",
    "balanced_rates",
    "batch_covariance",
    "conditioning_bound",
    "empirical_ntk",
    "feature_kernel",
    "feature_passes",
    "feature_speed",
    "feature_speed_probe",
    "find_nodes",
    "moment_cosine",
    "path_contributions",
    "spectral_density",
    "top_eigenvalues",
]
