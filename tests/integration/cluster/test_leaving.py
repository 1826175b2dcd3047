"""`signoff down` on a cluster that is not ours leaves nothing of the site in that cluster's store."""

from collections.abc import Callable

import pytest

from actors.platform.runtime import site
from cluster.state import ClusterState
from cluster.up import _leave_cluster
from models.config import Config
from models.errors import ClusterProblem


def test_what_jobs_find_is_taken_off_the_cluster(configure: Callable[..., Config], ray_cluster: None) -> None:
    config = configure()
    site.publish(config, root=config.data_dir, database_url="postgresql://signoff:secret@db/signoff")
    assert "secret" in site.find().database_url
    _leave_cluster("the cluster of the tests", ClusterState(deployed={}))
    with pytest.raises(ClusterProblem, match="has no Signoff site"):
        site.find()
    _leave_cluster("the cluster of the tests", ClusterState(deployed={}))
