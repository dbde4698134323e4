"""The families of the papers, in the order of tables."""

from skelgen.models.families.analytical import ANALYTICAL
from skelgen.models.families.contract import ModelFamily
from skelgen.models.families.curve_choice import LEAST_ERROR
from skelgen.models.families.multivariate import MULTIVARIATES
from skelgen.models.families.polynomials import POLYNOMIALS
from skelgen.models.families.product_of_sums import PRODUCT_OF_SUMS
from skelgen.models.families.rational import RATIONALS
from skelgen.models.families.template import TEMPLATE

PUBLISHED: tuple[ModelFamily, ...] = (
    *POLYNOMIALS,
    LEAST_ERROR,
    *RATIONALS,
    *MULTIVARIATES,
    ANALYTICAL,
    PRODUCT_OF_SUMS,
    TEMPLATE,
)
