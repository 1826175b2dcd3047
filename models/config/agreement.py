"""What settings of different sections must agree on: models and samples with what is served, ports, topics.

Part of `models.config`: a fault is told at the key that is to be corrected.
"""

from typing import TYPE_CHECKING

from models.config.llm import models_in
from models.config.own_endpoints import EMBEDDINGS, LLM, OwnEndpoints

if TYPE_CHECKING:
    from models.config import Config

# The keys to a place, and what is wrong there.
Faults = dict[tuple[str | int, ...], str]


def disagreements(config: "Config", own: OwnEndpoints | None) -> Faults:
    """All of them. `own` are the site's own endpoints; None where settings travel without secrets."""
    found = _chunks(config) | _ports(config) | _plans(config) | _samples(config)
    found |= _sources(config) | _patience(config)
    return found if own is None else found | _models(config, own) | _embeddings(config, own)


def _chunks(config: "Config") -> Faults:
    size, embedding = config.article_generation.knowledge_base.chunk_size_tokens, config.embedding
    if size <= embedding.max_input_tokens:
        return {}
    reason = (
        f"chunk_size_tokens is {size}, but {embedding.model_name} reads {embedding.max_input_tokens} "
        "tokens (embedding.max_input_tokens): the rest of each chunk would be lost. Set "
        f"chunk_size_tokens to {embedding.max_input_tokens} or less"
    )
    return {("article_generation", "knowledge_base"): reason}


def _plans(config: "Config") -> Faults:
    topics = config.publishing.topics
    return {
        ("research", "limits", "topics", topic): (
            f"there is no topic {topic} (publishing.topics: {', '.join(sorted(topics))}): name one of them"
        )
        for topic in config.research.limits.topics
        if topic not in topics
    }


def _sources(config: "Config") -> Faults:
    """Each agent's server is there, and lets it call what it is to be read with."""
    found: Faults = {}
    servers = config.mcp.servers
    for agent, source in config.operations.sources.items():
        keys = ("operations", "sources", agent)
        if source.server not in servers:
            known = ", ".join(sorted(servers)) or "none"
            found[*keys, "server"] = (
                f"there is no server {source.server} (mcp.servers: {known}): name one of them, or add it"
            )
            continue
        for number, reading in enumerate(source.reading):
            if reading.tool not in servers[source.server].tools:
                found[*keys, "reading", number, "tool"] = (
                    f"{reading.tool} is none of the tools of mcp.servers.{source.server}.tools: add it there"
                )
    return found


def _patience(config: "Config") -> Faults:
    """People are asked about a server that stays away before the operation that waits for it fails."""
    away, patience = config.operations.away_seconds, config.outages.patience_seconds
    if away < patience or not config.operations.sources:
        return {}
    return {
        ("operations", "away_seconds"): (
            f"is {away:g} s, but what waits fails after outages.patience_seconds ({patience:g} s), and "
            "nobody would be asked: set it to less than that, or outages.patience_seconds to more"
        )
    }


def _samples(config: "Config") -> Faults:
    if config.mcp.samples is not None:
        return {}
    return {
        ("mcp", "servers", name, "http", "sample"): (
            "the sample servers are not served here: set mcp.samples to the folder of their data, or name "
            "the url of another server"
        )
        for name, server in config.mcp.servers.items()
        if server.http is not None and server.http.sample is not None
    }


def _ports(config: "Config") -> Faults:
    if config.ray.address is not None:
        return {}
    found: Faults = {}
    taken = {config.ray.port: "ray.port"}
    for keys, port in (
        (("ray", "dashboard_port"), config.ray.dashboard_port),
        (("http", "port"), config.http.port),
    ):
        if port in taken:
            found[keys] = f"{port} is {taken[port]}, too: set one of them to another port"
        taken[port] = ".".join(keys)
    return found


def _models(config: "Config", own: OwnEndpoints) -> Faults:
    found: Faults = {}
    served = {model.name: model for model in config.serving.models}
    names = ", ".join(served) or "none"
    for keys, settings in models_in(config):
        if not own.opens(settings.api_base, LLM):
            continue
        model = served.get(settings.model)
        if model is None:
            found[*keys, "model"] = (
                f"{settings.model} is not served here (serving.models: {names}): name one of them, or the "
                "api_base and api_key of the endpoint that serves it"
            )
            continue
        window = model.engine.get("max_model_len")
        # -1 is as much as fits into memory.
        if isinstance(window, int) and 0 < window < settings.context_window:
            found[*keys, "context_window"] = (
                f"is {settings.context_window}, but {settings.model} is served with max_model_len {window} "
                "(serving.models, engine): set it to that or less"
            )
    return found


def _embeddings(config: "Config", own: OwnEndpoints) -> Faults:
    served, asked = config.serving.embeddings, config.embedding
    if not own.opens(asked.api_base, EMBEDDINGS) or (served and served.name == asked.model_name):
        return {}
    name = served.name if served else "none"
    return {
        ("embedding", "model_name"): (
            f"{asked.model_name} is not served here (serving.embeddings: {name}): name that one, or the "
            "api_base and api_key of the endpoint that serves it"
        )
    }
