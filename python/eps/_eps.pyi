# The module of the binding (python/src); eps has the functions for people.
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from torch import Tensor

version: str

class Error(ValueError): ...

class Operator:
    spec: str
    image: List[int]
    measurement: List[int]
    device: str
    maps: int
    has_closed_form: bool
    parameters: Dict[str, Tensor]
    def apply(self, x: Tensor) -> Tensor: ...
    def adjoint(self, y: Tensor) -> Tensor: ...
    def ridge(self, r: Tensor, lam: Tensor) -> Tensor: ...
    def proximal(self, z: Tensor, y: Tensor, lam: Tensor) -> Tensor: ...
    def picture(self, y: Tensor) -> Tensor: ...
    def measured(self) -> Tensor: ...

class Denoiser:
    input: str
    device: str
    sigma_min: float
    sigma_max: float
    channels: int
    resolution: int

class Network(Denoiser):
    name: str
    metadata: Dict[str, str]
    def denoise(self, x: Tensor, sigma: Tensor, labels: Optional[Tensor]) -> Tensor: ...
    def tensors(self) -> Dict[str, Tensor]: ...
    def save(self, path: str) -> None: ...

class Query:
    """What a network sees at (x_t, y, sigma): `eps.query` makes one."""

    x: Tensor
    sigma: Tensor
    side: Optional[Tensor]
    inputs: str

class Preconditioning:
    sigma_min: float
    sigma_max: float

class Scaling:
    noise_label: Tensor
    def __init__(self, rule: Preconditioning, query: Query, scale_side: bool) -> None: ...
    def input(self) -> Tensor: ...
    def mean(self, answer: Tensor) -> Tensor: ...
    def target(self, x0: Tensor) -> Tensor: ...
    def mean_square_out(self) -> Tensor: ...

class PictureFormat:
    bits: int
    def __init__(self) -> None: ...

_Verb = Callable[[Tensor], Tensor]
_Report = Optional[Callable[[str, int, int], Any]]

def operator_from_spec(
    spec: str, shape: Sequence[int], seed: int, maps: int, device: str
) -> Operator: ...
def operator_from_verbs(
    apply: _Verb,
    adjoint: _Verb,
    shape: Sequence[int],
    proximal: Optional[Callable[[Tensor, Tensor, Tensor], Tensor]],
    basis: Optional[Tuple[_Verb, _Verb, Tensor]],
    name: str,
    device: str,
) -> Operator: ...
def operator_from_entries(
    row: Tensor, column: Tensor, value: Tensor, rows: int, shape: Sequence[int], device: str
) -> Operator: ...
def operator_from_mask(mask: Tensor, shape: Sequence[int]) -> Operator: ...
def operator_from_kernel(kernel: Tensor, shape: Sequence[int], border: str) -> Operator: ...
def operator_summaries() -> Dict[str, str]: ...
def load(name: str, device: str, dtype: str) -> Network: ...
def network_from_tensors(
    tensors: Dict[str, Tensor], metadata: Dict[str, str], name: str, device: str, dtype: str
) -> Network: ...
def python_denoiser(
    function: Callable[..., Tensor],
    inputs: str,
    sigma_min: float,
    sigma_max: float,
    channels: int,
    device: str,
) -> Denoiser: ...
def model_names() -> List[str]: ...
def find_model(name: str) -> str: ...
def find_in_models(relative: str) -> str: ...
def query(
    A: Operator, y: Tensor, x_t: Tensor, sigma: Tensor, noise: Tensor, inputs: str
) -> Query: ...
def prior_query(x: Tensor, sigma: Tensor) -> Query: ...
def pivot(A: Operator, y: Tensor, x_t: Tensor, sigma: Tensor, noise: Tensor) -> Tensor: ...
def answer(network: Denoiser, query: Query) -> Tensor: ...
def power_spectrum(images: Tensor) -> Tensor: ...
def preconditioning(
    kind: str, sigma_data: float, prior_variance: str, spectrum: Optional[Tensor]
) -> Preconditioning: ...
def preconditioning_in(config: str, spectrum: Optional[Tensor]) -> Preconditioning: ...
def input_name(inputs: str) -> str: ...
def inputs_in(config: str) -> Tuple[str, bool]: ...
def method_served_by(inputs: str) -> str: ...
def method_entry(spec: str, task: str) -> Dict[str, Any]: ...
def method_summaries() -> Dict[str, str]: ...
def image_shape_of(spec: str, y: Sequence[int]) -> List[int]: ...
def measurement_dims_of(spec: str) -> int: ...
def sample_each(
    method: str,
    denoiser: Denoiser,
    A: Operator,
    y: Tensor,
    noise: float,
    samples: int,
    seed: int,
    steps: int,
    vjp_batch: int,
    report: _Report,
) -> Tensor: ...
def restore_tensor(
    method: str,
    denoiser: Denoiser,
    A: Operator,
    y: Tensor,
    noise: float,
    samples: int,
    seed: int,
    steps: int,
    batch: int,
    report: _Report,
) -> Dict[str, Any]: ...
def restore(
    network: Network,
    path: str,
    y: Optional[Tensor],
    A: Optional[Operator],
    options: Dict[str, Any],
    report: _Report,
) -> Dict[str, Any]: ...
def sample_prior(
    prior: Denoiser,
    seeds: Sequence[int],
    shape: Sequence[int],
    solver: str,
    steps: int,
    sigma_min: float,
    sigma_max: float,
    rho: float,
    churn: float,
    eta: float,
    batch: int,
    labels: Optional[Tensor],
    report: _Report,
) -> Tensor: ...
def metrics(
    samples: Tensor,
    truth: Tensor,
    A: Optional[Operator],
    y: Optional[Tensor],
    noise: float,
    lpips: Sequence[str],
    inception: str,
    seed: int,
) -> Dict[str, Any]: ...
def verify(seed: int, report: _Report) -> List[Dict[str, Any]]: ...
def training_fields() -> Tuple[str, Dict[str, str]]: ...
def train(
    folder: str,
    config: str,
    resume: bool,
    progress: _Report,
    log: Optional[Callable[[str], Any]],
    say: Optional[Callable[[str], Any]],
) -> None: ...
def read_image(path: str) -> Tuple[Tensor, PictureFormat]: ...
def write_image(path: str, image: Tensor, format: PictureFormat) -> None: ...
