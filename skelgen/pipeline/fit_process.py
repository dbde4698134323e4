"""Fit a template in a process of its own: this module is that process, too."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from skelgen.documents import json_field
from skelgen.errors import SkelgenError
from skelgen.launch.bounded_command import Bounds
from skelgen.models.model import Model
from skelgen.models.model_file import model_facts, model_of
from skelgen.pipeline.bounded_process import BOUNDS, run_apart
from skelgen.pipeline.template_curves import TemplateQuestion, fitted_template

#: The module by its name: as a process it has another.
_HERE = "skelgen.pipeline.fit_process"


def fitted_apart(question: TemplateQuestion, bounds: Bounds = BOUNDS) -> Model:
    """Fit a template as `fitted_template` does, within bounds.

    Raises
    ------
    InputError
        When the runs do not determine it, or it takes too long.
    """
    told = [question.application, question.template, question.system, *question.facts]
    said = run_apart(_HERE, [json.dumps(told)], question.store, bounds)
    return model_of(json_field(said, Path("the fit")))


def main(told: str) -> int:
    """Fit what is told, and print the model as JSON."""
    application, template, system, *facts = json.loads(told)
    question = TemplateQuestion(None, template, system, tuple(facts))
    try:
        found = fitted_template(replace(question, application=application))
    except SkelgenError as error:
        sys.stderr.write(" ".join(str(error).split()) + "\n")
        return int(error.exit_code)
    sys.stdout.write(json.dumps(model_facts(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
