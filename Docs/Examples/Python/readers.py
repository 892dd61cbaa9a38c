# SPDX-License-Identifier: BSD-3-Clause
"""Contours volumes of SimpleITK, ITK, xarray, zarr and folders of DICOM files. usage: python readers.py SCAN ISOVALUE"""
import os
import sys

import pmb


def of_simpleitk(image, isovalue):
    """The array's axes are z, y, x; its transpose has the image's, without a copy."""
    import SimpleITK
    return pmb.contour(SimpleITK.GetArrayViewFromImage(image).T, isovalue, image.GetSpacing(), image.GetOrigin(),
                       image.GetDirection())


def of_itk(image, isovalue):
    import itk
    return pmb.contour(itk.array_view_from_image(image).T, isovalue, tuple(image.GetSpacing()), tuple(image.GetOrigin()),
                       itk.array_from_matrix(image.GetDirection()))


def of_xarray(data, isovalue):
    """Coordinates are evenly spaced."""
    axes = [data[name].values for name in data.dims]
    return pmb.contour(data.values, isovalue, [float(axis[1] - axis[0]) for axis in axes], [float(axis[0]) for axis in axes])


def of_zarr(array, isovalue, first=0, end=None):
    """Reads planes first to end - 1 of a store that is larger than memory; pieces meet if they share a plane."""
    return pmb.contour(array[first:end], isovalue, origin=(first, 0, 0))


def of_dicom(folder, isovalue):
    """The largest series in a folder. Values of a CT are Hounsfield units: 300 is about the surface of bone."""
    from SimpleITK import ImageSeriesReader, ReadImage
    series = [ImageSeriesReader.GetGDCMSeriesFileNames(folder, name) for name in ImageSeriesReader.GetGDCMSeriesIDs(folder)]
    return of_simpleitk(ReadImage(max(series, key=len)), isovalue)


if __name__ == "__main__":
    import SimpleITK
    scan, level = sys.argv[1], float(sys.argv[2])
    mesh = of_dicom(scan, level) if os.path.isdir(scan) else of_simpleitk(SimpleITK.ReadImage(scan), level)
    print(len(mesh.triangles), "triangles,", mesh.measure())
