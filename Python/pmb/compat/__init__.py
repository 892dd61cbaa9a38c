# SPDX-License-Identifier: BSD-3-Clause
"""Functions with the signatures and conventions of other packages: pmb.compat.skimage, pmb.compat.mcubes."""
