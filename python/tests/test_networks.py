"""Networks: in Python as in C++, in files, and in training loops of one's own."""
import copy
import os
import subprocess
import sys
import tempfile
import unittest

import torch
from support import ROOT, needs, needs_model

import eps

TINY = dict(
    data="synthetic:size=16,count=64",
    preset="tiny",
    images=64,
    batch=16,
    validation_images=8,
    preview_images=0,
    device="cpu",
)


def noisy(seed=0, size=64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 3, size, size, generator=generator, dtype=torch.float64)


class InPython(unittest.TestCase):
    """The modules of eps.nets equal the C++ to 1e-5."""

    def check(self, network, size=64):
        module = network.module().eval()
        for sigma in (0.01, 1.0, 40.0):
            if network.inputs == "prior":
                x = noisy(size=size).float() * sigma
                pairs = [(network(x, sigma), module(x, sigma))]
            else:
                pairs = []
                for spec in ("inpaint_random:missing=0.7", "blur_gaussian:std=1,size=5,border=valid"):
                    A = eps.operator(spec, (3, size, size))
                    x = noisy(size=size)
                    query = eps.query(A, A(x) * 0.3, x * sigma, sigma, 0.05, network.inputs)
                    pairs.append((network(query), module(query)))
            for wanted, got in pairs:
                self.assertLess((wanted - got).abs().max(), 1e-5 * max(1, wanted.abs().max()))

    def test_those_that_come_with_eps(self):
        for name in eps.models():
            with self.subTest(name):
                self.check(eps.load(name, device="cpu"))

    @needs_model("photos-eps-small")
    def test_the_local_one_at_sizes_that_no_level_divides(self):
        network = eps.load("photos-eps-small", device="cpu")
        module = network.module().eval()
        A = eps.operator("inpaint_random:missing=0.5", (3, 37, 50))
        x = torch.randn(1, 3, 37, 50, dtype=torch.float64)
        query = eps.query(A, A(x), x, 0.5, 0.05, network.inputs)
        self.assertLess((network(query) - module(query)).abs().max(), 1e-5)

    def test_those_that_eps_trains(self):
        with tempfile.TemporaryDirectory() as folder:
            for k, options in enumerate(
                [
                    dict(input="prior"),
                    dict(tasks="random_inpainting", preconditioning="anisotropic", show_skip=True),
                    dict(tasks="random_inpainting", arch="local", input="eps_precision", patch=1),
                    dict(tasks="random_inpainting", arch="local", norm="group", scale_side=True),
                ]
            ):
                with self.subTest(**options):
                    network = eps.train(f"{folder}/{k}", **TINY, **options)
                    self.check(network, size=16)


class Files(unittest.TestCase):
    @needs_model("faces64-prior")
    def test_a_module_goes_to_a_file_and_back(self):
        module = eps.load("faces64-prior", device="cpu").module()
        with torch.no_grad():
            next(iter(module.parameters())).add_(0.01)
        x = noisy().float()
        with tempfile.TemporaryDirectory() as folder:
            module.save(f"{folder}/changed.safetensors")
            again = eps.load(f"{folder}/changed.safetensors", device="cpu")
        self.assertLess((again(x, 1.0) - module(x, 1.0)).abs().max(), 1e-5)
        self.assertLess((module.network("cpu")(x, 1.0) - again(x, 1.0)).abs().max(), 1e-9)

    @needs("safetensors")
    @needs_model("faces64-eps")
    def test_the_safetensors_package_reads_and_writes_checkpoints(self):
        from safetensors import safe_open
        from safetensors.torch import load_file, save_file

        path = eps._eps.find_model("faces64-eps")
        network = eps.load("faces64-eps", device="cpu")
        module = network.module()
        module.load_state_dict(load_file(path))  # strictly: all names, and no others
        with safe_open(path, "pt") as file:
            self.assertEqual(file.metadata()["config"], network._bound.metadata["config"])
        with tempfile.TemporaryDirectory() as folder:
            tensors = {name: t.contiguous() for name, t in module.state_dict().items()}
            save_file(tensors, f"{folder}/a.safetensors", module.metadata)
            again = eps.load(f"{folder}/a.safetensors", device="cpu")
        A = eps.operator("super_resolution:factor=4", (3, 64, 64))
        query = eps.query(A, A(noisy()), noisy(1), 1.0, 0.05, network.inputs)
        self.assertTrue(torch.equal(network(query), again(query)))


class OfOtherPrograms(unittest.TestCase):
    """Files that people have, by eps.load, and ONNX by a package of Python's."""

    def test_a_denoiser_in_torchscript(self):
        class White(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.one = torch.nn.Parameter(torch.ones(1))

            def forward(self, x: torch.Tensor, sigma: torch.Tensor):
                return self.one * x / (1 + sigma.view(-1, 1, 1, 1) ** 2)

        with tempfile.TemporaryDirectory() as folder:
            torch.jit.script(White()).save(f"{folder}/net.pt")
            prior = eps.load(f"torchscript:file={folder}/net.pt,size=8", device="cpu")
            with self.assertRaisesRegex(eps.Error, "torchscript:file="):
                eps.load(f"{folder}/net.pt")
        x = noisy(size=8).float()
        torch.testing.assert_close(prior(x, 2.0), x / 5)

    @needs("safetensors")
    def test_networks_of_guided_diffusion_and_diffusers(self):
        from safetensors.torch import load_file

        script = os.path.join(ROOT, "tests", "reference", "foreign_networks.py")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, script, "--files", folder], check=True)
            for spec, name in (
                (f"guided_diffusion:file={folder}/adm_ffhq.pt,head_channels=8,size=16", "adm_ffhq"),
                (f"{folder}/pipeline", "unet2d_old"),
            ):
                network = eps.load(spec, device="cpu")
                known = load_file(os.path.join(ROOT, "tests", "fixtures", f"foreign_{name}.safetensors"))
                answer = network(known["x"].float(), known["sigma"].flatten())
                error = (answer - known["D"]).norm() / known["D"].norm()
                self.assertLess(error, 1e-5, name)

    @needs("onnx")
    @needs("onnxruntime")
    def test_a_denoiser_in_onnx(self):
        from onnx import TensorProto, checker, helper, save

        nodes = [  # E[x0 | x] = x / (1 + sigma^2)
            helper.make_node("Mul", ["sigma", "sigma"], ["v"]),
            helper.make_node("Add", ["v", "one"], ["d"]),
            helper.make_node("Reshape", ["d", "shape"], ["e"]),
            helper.make_node("Div", ["x", "e"], ["mean"]),
        ]
        graph = helper.make_graph(
            nodes,
            "white",
            [
                helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, "h", "w"]),
                helper.make_tensor_value_info("sigma", TensorProto.FLOAT, ["n"]),
            ],
            [helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["n", 3, "h", "w"])],
            [
                helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0]),
                helper.make_tensor("shape", TensorProto.INT64, [4], [-1, 1, 1, 1]),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        checker.check_model(model)
        with tempfile.TemporaryDirectory() as folder:
            save(model, f"{folder}/net.onnx")
            prior = eps.Prior.onnx(f"{folder}/net.onnx")
            with self.assertRaisesRegex(eps.Error, "an ONNX model"):
                eps.load(f"{folder}/net.onnx")
        A = eps.operator("inpaint_random:missing=0.5", (3, 8, 8))
        y = A(noisy(size=8)[:1])
        drawn = [
            eps.method("ddnm", steps=4)(y, A, 0.1, model)
            for model in (prior, lambda x, sigma: x / (1 + sigma**2))
        ]
        torch.testing.assert_close(drawn[0], drawn[1], atol=1e-5, rtol=0)


class Small(torch.nn.Module):
    """A network of the user's own: the query and its noise level in, an image out."""

    def __init__(self, inputs):
        super().__init__()
        self.first = torch.nn.Conv2d(inputs, 24, 3, padding=1)
        self.level = torch.nn.Linear(1, 24)
        self.second = torch.nn.Conv2d(24, 24, 3, padding=1)
        self.last = torch.nn.Conv2d(24, 1, 3, padding=1)

    def forward(self, x, noise_label):
        h = torch.relu(self.first(x) + self.level(noise_label[:, None])[:, :, None, None])
        return self.last(torch.relu(self.second(h)))


class OwnLoops(unittest.TestCase):
    SHAPE = (1, 12, 12)

    def data(self, count, seed):
        """Smooth images: a random plane each."""
        generator = torch.Generator().manual_seed(seed)
        a = torch.rand(count, 3, 1, 1, generator=generator, dtype=torch.float64) - 0.5
        rows = torch.linspace(-1, 1, 12, dtype=torch.float64)[:, None]
        return (a[:, :1] * rows + a[:, 1:2] * rows.T + a[:, 2:]).reshape(count, *self.SHAPE)

    def test_a_network_learns_the_posterior(self):
        for preconditioning in ("edm", "anisotropic"):
            torch.manual_seed(0)
            A = eps.operator("inpaint_random:missing=0.5", self.SHAPE)
            posterior = eps.Posterior(Small(2), "eps", preconditioning=preconditioning)
            optimiser = torch.optim.Adam(posterior.parameters(), 3e-3)
            losses = []
            for step in range(150):
                x0 = self.data(32, step)
                y = A.observe(x0, 0.05)
                sigma = torch.exp(torch.randn(32, dtype=torch.float64) * 1.2 - 0.4)
                x_t = x0 + sigma.reshape(-1, 1, 1, 1) * torch.randn_like(x0)
                loss = posterior.loss(eps.query(A, y, x_t, sigma, 0.05), x0).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append(loss.item())
            self.assertLess(sum(losses[-20:]), 0.8 * sum(losses[:20]), preconditioning)
            x0 = self.data(1, 999)
            y = A.observe(x0, 0.05, seed=1)
            r = eps.restore(y, A, 0.05, samples=4, steps=5, model=posterior)
            error = (r.mean - x0[0]).square().mean().sqrt()
            self.assertLess(error, 0.5 * x0.square().mean().sqrt())

    def test_derivatives_reach_x_t_through_query_and_network(self):
        """float32 inside, so against a difference quotient with a bound of its size."""
        for preconditioning in ("edm", "anisotropic"):
            torch.manual_seed(0)
            A = eps.operator("blur_gaussian:std=1,size=5", self.SHAPE)
            posterior = eps.Posterior(torch.nn.Conv2d(2, 1, 3, padding=1), "eps", preconditioning=preconditioning)
            posterior.model.forward = lambda x, noise_label: torch.nn.functional.conv2d(
                x, posterior.model.weight, posterior.model.bias, padding=1
            )
            x_t, y = self.data(1, 0), A(self.data(1, 1))
            weights = torch.randn_like(x_t)

            def value(x):
                return (posterior(eps.query(A, y, x, 0.5, 0.1)).double() * weights).sum()

            leaf = x_t.clone().requires_grad_()
            (gradient,) = torch.autograd.grad(value(leaf), leaf)
            direction = torch.randn_like(x_t)
            h = 0.1  # the map is affine, so that any step is exact
            with torch.no_grad():
                slope = (value(x_t + h * direction) - value(x_t - h * direction)) / (2 * h)
            self.assertLess(abs(slope - (gradient * direction).sum()) / abs(slope), 1e-4)

    def test_preconditioning_by_hand_is_that_of_a_posterior(self):
        A = eps.operator("inpaint_random:missing=0.5", self.SHAPE)
        x0, x_t = self.data(2, 0), self.data(2, 1).requires_grad_()
        for kind in ("edm", "anisotropic"):
            posterior = eps.Posterior(Small(2), "eps", preconditioning=kind)
            query = eps.query(A, A(x0), x_t, 0.5, 0.1)
            scaling = eps.precondition(query, kind)
            answer = posterior.model(scaling.input(), scaling.noise_label)
            self.assertTrue(torch.equal(scaling.mean(answer), posterior(query)))
            loss = (answer - scaling.target(x0)).square()
            self.assertTrue(torch.equal(loss, posterior.loss(query, x0)))
            # What F is to answer makes the estimate exact, where there is noise.
            torch.testing.assert_close(scaling.mean(scaling.target(x0)).double(), x0, atol=1e-5, rtol=0)
            (gradient,) = torch.autograd.grad(loss.sum(), x_t)
            self.assertGreater(gradient.abs().max(), 0)

    def test_copies_and_files_of_a_posterior(self):
        """For averages of weights, and torch.save."""
        A = eps.operator("inpaint_random:missing=0.5", self.SHAPE)
        query = eps.query(A, A(self.data(1, 0)), self.data(1, 1), 0.5, 0.1)
        posterior = eps.Posterior(Small(2), "eps", preconditioning="anisotropic")
        average = torch.optim.swa_utils.AveragedModel(posterior)
        twin = copy.deepcopy(posterior)
        with torch.no_grad():
            next(posterior.parameters()).add_(1)
        self.assertTrue(torch.equal(twin(query), average(query)))
        self.assertFalse(torch.equal(twin(query), posterior(query)))
        with tempfile.TemporaryDirectory() as folder:
            torch.save(twin, f"{folder}/whole.pt")
            options = {} if torch.__version__.startswith("1.") else {"weights_only": False}
            again = torch.load(f"{folder}/whole.pt", **options)
        self.assertTrue(torch.equal(twin(query), again(query)))

    def test_derivatives_that_do_not_exist_are_refused(self):
        A = eps.operator("identity", self.SHAPE)
        y = self.data(1, 0).requires_grad_()
        with self.assertRaisesRegex(eps.Error, "eps.pivot has them for y"):
            eps.query(A, y, self.data(1, 1), 1.0, 0.1)

    def test_answers_and_targets_unlike_the_query_are_refused(self):
        A = eps.operator("inpaint_random:missing=0.5", (3, 12, 12))
        x = torch.rand(2, 3, 12, 12)
        query = eps.query(A, A(x), x, 0.5, 0.1)
        posterior = eps.Posterior(torch.nn.Conv2d(6, 3, 1), "eps")
        posterior.model.forward = lambda x, noise_label: x[:, :3].half()  # as under autocast
        scaling = eps.precondition(query)
        for wrong, words in [
            (x[:1], "images of 2 x 3 x 12 x 12 are wanted"),
            (x[:, :1], "images of 2 x 3 x 12 x 12 are wanted"),
            (x.to_sparse(), "dense images"),
            ((x * 255).to(torch.uint8), "floating-point numbers on cpu are wanted, got unsigned char"),
            (x.to(torch.complex64), "floating-point numbers on cpu"),
            (x.to("meta"), "on cpu are wanted, got float on meta"),
        ]:
            for function in (scaling.mean, scaling.target, lambda x0: posterior.loss(query, x0)):
                with self.assertRaisesRegex(eps.Error, words):
                    function(wrong)
        self.assertEqual(posterior(query).shape, x.shape)
        with self.assertRaisesRegex(eps.Error, "must be returned, got c10::complex<float> of 1 x"):
            eps.method("ddnm", steps=2)(x[:1], eps.operator("identity"), 0.1, lambda x, s: x.to(torch.complex64))

    def test_any_function_is_the_prior_of_every_zero_shot_method(self):
        """With the answers of a network, a function and a module draw what the network draws."""
        with tempfile.TemporaryDirectory() as folder:
            network = eps.train(f"{folder}/prior", **TINY, input="prior")
        A = eps.operator("inpaint_random:missing=0.5", (3, 16, 16))  # which all of them take
        y = A(noisy(size=16)[:1] * 0.3)
        zero_shot = [name for name in eps.methods() if eps.method(name).inputs == "prior"]
        self.assertGreater(len(zero_shot), 10)
        for name in zero_shot:
            method = eps.method(name)
            steps = None if "steps" not in method.options else 3
            drawn = [
                method(y, A, 0.1, model, steps=steps)
                for model in (network, lambda x, sigma: network(x, sigma), network.module().eval())
            ]
            size = drawn[0].abs().max().clamp(min=1)
            for other in drawn[1:]:
                with self.subTest(name):
                    self.assertLess((drawn[0] - other).abs().max() / size, 1e-3)

    def test_a_prior_without_derivatives_says_so_where_they_are_needed(self):
        A = eps.operator("identity", self.SHAPE)
        prior = torch.no_grad()(lambda x, sigma: x / (1 + sigma**2))
        self.assertEqual(eps.method("ddnm", steps=2)(self.data(1, 0), A, 0.1, prior).shape, (1, *self.SHAPE))
        with self.assertRaisesRegex(eps.Error, "differentiates it, and what it returned has no derivatives"):
            eps.method("dps", steps=2)(self.data(1, 0), A, 0.1, prior)

    def test_any_function_is_a_prior(self):
        """A Gaussian prior N(0, 1) of white pixels: the posterior of a mask is known."""
        A = eps.operator("inpaint_random:missing=0.5", self.SHAPE)
        y = A.observe(self.data(1, 0), 0.5, seed=0)
        prior = eps.Prior(lambda x, sigma: x / (1 + sigma**2))
        samples = eps.method("mmps", steps=100)(y, A, 0.5, prior, samples=400)
        measured = (A.measured().expand(1, *self.SHAPE) == 1)[0]
        wanted = (y[0] / 1.25)[measured]
        bound = 5 * (0.2 / 400) ** 0.5
        self.assertLess((samples.mean(0)[measured] - wanted).abs().max(), bound + 0.02)
        self.assertLess(abs(samples.std(0)[measured].mean() - 0.2**0.5), 0.02)
        self.assertLess(abs(samples.std(0)[~measured].mean() - 1), 0.03)


if __name__ == "__main__":
    unittest.main()
