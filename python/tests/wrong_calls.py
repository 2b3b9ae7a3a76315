"""Makes random calls with arguments of wrong types, shapes, devices and values: all must end in exceptions.

Usage: wrong_calls.py CALLS [SEED]. Half of them are right calls of which one or two arguments are wrong, which go
deeper before they are refused. Prints how many calls returned and how many raised; an abort of the process is what
this looks for.
"""
import collections
import os
import random
import sys
import tempfile

import torch

import eps

EXPECTED = (
    eps.Error,
    TypeError,
    ValueError,
    RuntimeError,
    OverflowError,
    IndexError,
    OSError,
    MemoryError,
)


def values(rng):
    """Returns arguments of every kind."""
    import numpy

    t = torch.rand(1, 3, 16, 16)
    return [
        None,
        True,
        0,
        1,
        -1,
        3,
        2**40,
        2**70,
        -(2**70),
        0.05,
        float("nan"),
        float("inf"),
        -1e308,
        "",
        "identity",
        "blur_gaussian:std=1,size=5",
        "inpaint_random:missing=0.5",
        "no such thing",
        "super_resolution:factor=0",
        "x" * 1000,
        "\0",
        "\ud800",
        b"\xff",
        "/",
        "cuda",
        "cuda:99",
        "meta",
        [],
        [1, 2],
        (3, 16, 16),
        [3, 16, 16],
        (0, 0, 0),
        (-1, 2, 3),
        (2**31, 2**31, 2**31),
        {},
        object(),
        t,
        t[0],
        t.double(),
        t.double()[0],
        t.half(),
        t.long(),
        t > 0.5,
        t.to(torch.complex64),
        t.to_sparse(),
        t.transpose(2, 3),
        t[:, :, ::2],
        t.expand(4, 3, 16, 16),
        torch.rand(0, 3, 16, 16),
        torch.rand(1, 3, 0, 16),
        torch.rand(2, 3, 16, 16),
        torch.rand(1, 1, 16, 16),
        torch.rand(1, 3, 17, 16),
        torch.rand(1, 3, 4, 4),
        torch.rand(1),
        torch.tensor(0.5),
        torch.rand(1, 3, 16, 16, 2),
        torch.full((1, 3, 16, 16), float("nan")),
        torch.empty(1, 3, 16, 16, device="meta"),
        *([t.cuda(), t[0].cuda(), torch.tensor(0.5).cuda()] if torch.cuda.is_available() else []),
        t.clone().requires_grad_(),
        numpy.zeros((1, 3, 16, 16)),
        numpy.zeros((3, 16, 16), dtype=numpy.uint8),
        numpy.array("text"),
        numpy.zeros((1, 3, 16, 16))[:, ::-1],
        lambda *a: None,
        lambda *a: torch.zeros(1),
        lambda *a: a[0],
        lambda *a: 1 / 0,
        (lambda x: x, lambda y: y),
        (lambda x: x[:, :1], lambda y: y),
        (lambda x: 3, lambda y: y),
        torch.nn.Linear(3, 3),
        eps.operator("identity", (3, 16, 16)),
        eps.operator("inpaint_random:missing=0.5", (3, 16, 16)),
        eps.operator("blur_gaussian:std=1,size=5,border=valid", (3, 16, 16)),
        eps.operator("super_resolution:factor=4", (3, 16, 16)),
        eps.operator("super_resolution:factor=4"),
        eps.query(eps.operator("identity"), t, t, 1.0, 0.1),
        eps.query(eps.operator("super_resolution:factor=4"), t[:, :, ::4, ::4], t, 1.0, 0.1, "palette"),
    ]


def functions(pool, networks):
    """Returns the calls, with the numbers of their arguments and the names of their keywords."""
    A = [a for a in pool if isinstance(a, eps.Operator)]
    own = eps.operator((lambda x: x, lambda y: y), (3, 16, 16))
    calls = [
        (eps.operator, 2, ["seed", "batch", "proximal", "basis", "device"]),
        (eps.inpainting, 2, []),
        (eps.blur, 3, []),
        (eps.load, 1, ["device", "dtype"]),
        (eps.Prior, 1, ["sigma_min", "sigma_max", "channels", "device"]),
        (eps.Posterior, 2, ["preconditioning", "sigma_data", "prior_variance", "spectrum"]),
        (eps.method, 1, ["steps", "scale"]),
        (eps.method("ddnm", steps=1), 4, ["samples", "seed", "steps", "vjp_batch"]),
        (eps.method("dps", steps=1), 4, ["samples"]),
        (eps.query, 6, []),
        (eps.pivot, 5, []),
        (eps.power_spectrum, 1, []),
        (eps.precondition, 2, ["sigma_data", "prior_variance", "spectrum", "scale_side"]),
        (eps.metrics, 2, ["operator", "y", "noise", "seed"]),
        (eps.read_image, 1, []),
        (eps.write_image, 2, []),
        (eps.pixels, 1, []),
        (lambda image, *a: eps.sheet(["a"], {"": [image]}, *a), 2, []),
        (eps.sample, 1, ["count", "shape", "solver", "eta", "churn", "labels", "batch"]),
        (eps.restore, 4, ["mask", "kernel", "motion", "gaussian", "method", "region", "seed", "quick"]),
        (eps.train, 1, ["data", "images", "input", "resume", "preset", "no_such_field"]),
    ]
    for operator in A + [own]:
        for name, count in [
            ("__call__", 1),
            ("adjoint", 1),
            ("ridge", 2),
            ("proximal", 3),
            ("pivot", 4),
            ("picture", 1),
            ("observe", 2),
        ]:
            calls.append((getattr(operator, name), count, []))
    for network in networks:
        calls.append((network, 2, ["labels"]))
        calls.append((lambda *a, net=network, **k: eps.sample(net, *a, **k), 1, ["shape", "steps"]))
        calls.append(
            (lambda *a, net=network, **k: eps.restore(*a, model=net, samples=1, steps=1, **k), 3, ["mask"])
        )
    return calls


def right_calls(networks):
    """Returns calls that return: functions, arguments and keywords."""
    t, (prior, posterior) = torch.rand(1, 3, 16, 16), networks
    calls = [
        (eps.operator, ["inpaint_random:missing=0.5", (3, 16, 16)], {"seed": 1, "batch": 1, "device": "cpu"}),
        (eps.operator, [(lambda x: x, lambda y: y), (3, 16, 16)], {"basis": (lambda x: x, lambda c: c, t.double())}),
        (eps.inpainting, [(t[0, 0] > 0.5).float(), (3, 16, 16)], {}),
        (eps.blur, [torch.rand(3, 3), (3, 16, 16), "valid"], {}),
        (eps.Prior, [lambda x, sigma: x], {"sigma_min": 0.01, "sigma_max": 10.0, "channels": 3, "device": "cpu"}),
        (eps.power_spectrum, [t], {}),
        (eps.sample, [prior, 2], {"shape": (3, 16, 16), "steps": 2, "solver": "heun", "churn": 1.0, "batch": 1}),
        (eps.sheet, [["a", "b"], {"": [t[0], t[0]]}, 2], {}),
        (eps.write_image, ["a.png", t[0]], {}),
        (eps.pixels, [t[0]], {}),
        (prior, [t, torch.tensor(0.5)], {}),
    ]
    for spec in ("identity", "inpaint_random:missing=0.5", "blur_gaussian:std=1,size=5,border=valid", "grey"):
        A = eps.operator(spec, (3, 16, 16))
        y, query = A(t), eps.query(A, A(t), t, 0.7, 0.1)
        calls += [
            (A, [t], {}),
            (A.adjoint, [y], {}),
            (A.ridge, [y, 0.1], {}),
            (A.proximal, [t, y, 0.1], {}),
            (A.picture, [y], {}),
            (A.observe, [t, 0.1], {"seed": 3}),
            (eps.pivot, [A, y, t, 0.7, 0.1], {}),
            (eps.query, [A, y, t, torch.tensor([0.7]), 0.1, "eps_precision"], {}),
            (eps.precondition, [query, "anisotropic"], {"sigma_data": 0.5, "prior_variance": "constant"}),
            (posterior, [query], {}),
            (posterior.loss, [query, t], {}),
            (eps.precondition(query).mean, [t], {}),
            (eps.precondition(query).target, [t], {}),
            (eps.method("ddnm"), [y, A, 0.1, prior], {"samples": 2, "steps": 2, "seed": 1}),
            (eps.method("dps"), [y, A, 0.1, white], {"steps": 2, "vjp_batch": 1}),
            (eps.restore, [y, A, 0.1, 2, 2, 0, prior], {"method": "ddnm"}),
            (eps.restore, [y, A, 0.1, 2, 2, 0, posterior], {}),
            (eps.metrics, [t[None], t], {"operator": A, "y": y, "noise": 0.1, "seed": 1}),
        ]
    return calls


def white(x, sigma):
    return x / (1 + sigma**2)


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    rng = random.Random(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    os.chdir(tempfile.mkdtemp())
    pool = values(rng)
    module = torch.nn.Conv2d(6, 3, 3, padding=1)
    networks = [
        eps.Prior(lambda x, sigma: x / (1 + sigma**2)),
        eps.Posterior(lambda_module(module), "eps"),
    ]
    outcome = collections.Counter()
    calls = functions(pool, networks)
    # Arguments of a right type go deeper before they are refused.
    right = (torch.Tensor, eps.Operator, eps.Query, float, tuple, str, int)
    near = [a for a in pool if isinstance(a, right)]

    def pick():
        return rng.choice(near if rng.random() < 0.8 else pool)

    nearly = right_calls(networks)
    for function, arguments, named in nearly:
        function(*arguments, **named)
    for _ in range(count):
        if rng.random() < 0.5:
            function, most, keywords = rng.choice(calls)
            arguments = [pick() for _ in range(max(0, most - (rng.random() < 0.1)))]
            named = {k: pick() for k in keywords if rng.random() < 0.2}
        else:
            function, arguments, named = rng.choice(nearly)
            arguments, named = list(arguments), dict(named)
            for place in rng.choices([*range(len(arguments)), *named], k=rng.choice((1, 1, 2))):
                if isinstance(place, str):
                    named[place] = pick()
                else:
                    arguments[place] = pick()
        try:
            function(*arguments, **named)
            outcome["returned"] += 1
        except EXPECTED as error:
            outcome[type(error).__name__] += 1
        except ZeroDivisionError:
            outcome["raised by the callback"] += 1
    print(dict(outcome))


def lambda_module(module):
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, x, noise_label):
            return self.inner(x)

    return Network()


if __name__ == "__main__":
    main()
