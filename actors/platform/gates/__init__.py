"""One door for every gated kind: it reads what the kind declares (`models.runtime.gated_kinds`)."""
