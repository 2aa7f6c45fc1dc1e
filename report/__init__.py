# SPDX-License-Identifier: MIT
"""ferry report: one HTML page from the JSON files that ferry bench wrote."""
