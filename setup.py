"""What pyproject.toml cannot say: the top-level data/ is shipped as the package hcviz.data."""

from setuptools import find_namespace_packages, setup

folders = ["hcviz.data", *(f"hcviz.data.{name}" for name in find_namespace_packages("data"))]

setup(
    packages=[*find_namespace_packages(include=["hcviz*"]), *folders],
    package_dir={"hcviz.data": "data"},
    package_data={"": ["*.css", "*.js", "*.html", "*.csv", "*.nwk", "*.md", "*.hcviz", "py.typed"]},
)
