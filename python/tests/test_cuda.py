"""Tensors on a GPU: the answers of the CPU, and no copies. Skipped without a GPU.

EPS_TEST_DEVICE=cpu tries the tests themselves, where there is none.
"""
import os
import tempfile
import unittest

import numpy
import torch
from support import needs, needs_model
from test_networks import TINY, Small
from test_operators import image, specs

import eps

DEVICE = os.environ.get("EPS_TEST_DEVICE", "cuda:0")
SHAPE = (3, 16, 16)
has_device = DEVICE == "cpu" or torch.cuda.is_available()


def there(x):
    return x.to(DEVICE)


class Foreign:
    """An array of another library, which is on the device."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@unittest.skipUnless(has_device, "skipped: there is no GPU")
class OnAGpu(unittest.TestCase):
    def assert_close(self, value, wanted, bound):
        self.assertEqual(str(value.device), DEVICE)
        error = (value.cpu().double() - wanted.double()).abs().max() / wanted.abs().max().clamp(min=1)
        self.assertLess(error, bound)


class Operators(OnAGpu):
    def test_verbs_answer_as_on_the_cpu(self):
        for spec in specs():
            A = eps.operator(spec, SHAPE)  # made on the CPU; its mask is drawn from the same seed
            x, z = image(2, shape=SHAPE), image(2, seed=1, shape=SHAPE)
            y = A(x)
            for dtype, bound in ((torch.float64, 1e-7), (torch.float32, 1e-3)):
                with self.subTest(spec, dtype=dtype):
                    on = [there(t.to(dtype)) for t in (x, z, y)]
                    self.assertEqual(A(on[0]).dtype, dtype)
                    self.assert_close(A(on[0]), y, bound)
                    self.assert_close(A.adjoint(on[2]), A.adjoint(y), bound)
                    self.assert_close(A.ridge(on[2], 0.1), A.ridge(y, 0.1), bound)
                    self.assert_close(A.proximal(on[1], on[2], 0.1), A.proximal(z, y, 0.1), bound)
                    levels = torch.tensor([0.5, 3.0], dtype=torch.float64)  # of each image, on the CPU
                    wanted = A.pivot(y, z, levels, 0.1)
                    self.assert_close(A.pivot(on[2], on[1], levels, 0.1), wanted, bound)
                    self.assert_close(A.pivot(on[2], on[1], there(levels), 0.1), wanted, bound)
                    wanted = A.ridge(y, levels)
                    self.assert_close(A.ridge(on[2], levels), wanted, bound)
                    self.assert_close(A.ridge(on[2], there(levels[0])), A.ridge(y, levels[0]), bound)

    def test_tensors_are_shared(self):
        x = there(image(shape=SHAPE))
        seen = []
        own = eps.operator((lambda v: seen.append(v) or v, lambda v: v), SHAPE)
        self.assertEqual(own(x).data_ptr(), x.data_ptr())
        self.assertEqual(seen[-1].data_ptr(), x.data_ptr())
        self.assertEqual(own(Foreign(x)).data_ptr(), x.data_ptr())
        mask = eps.operator("inpaint_random:missing=0.5", SHAPE, device=DEVICE)
        self.assertEqual(str(mask.parameters["mask"].device), DEVICE)

    @needs("cupy")
    def test_arrays_of_cupy_are_shared(self):
        import cupy

        x = cupy.zeros((1, *SHAPE))
        own = eps.operator((lambda v: v, lambda v: v), SHAPE)
        self.assertEqual(own(x).data_ptr(), x.data.ptr)

    def test_those_of_your_own_go_along(self):
        weights = torch.rand(1, 1, 16, 16, dtype=torch.float64)
        A = eps.operator(
            (lambda x: x * weights.to(x), lambda y: y * weights.to(y)),
            SHAPE,
            basis=(lambda x: x, lambda c: c, weights.square()),
        )
        y = image(shape=SHAPE)
        self.assert_close(A.ridge(there(y), 0.1), A.ridge(y, 0.1), 1e-12)
        kernel = torch.rand(3, 5, dtype=torch.float64)
        for B in (eps.blur(kernel, SHAPE, border="valid"), eps.inpainting(numpy.eye(16), SHAPE)):
            self.assert_close(B(there(y)), B(y), 1e-12)
        observed = A.observe(there(y), 0.1, seed=0)
        self.assertEqual(str(observed.device), DEVICE)

    @needs("scipy")
    def test_matrices_of_scipy_go_along(self):
        from scipy import sparse
        from scipy.sparse.linalg import aslinearoperator

        matrix = sparse.random(20, 3 * 16 * 16, density=0.2, random_state=0, format="csr")
        for given in (matrix, aslinearoperator(matrix)):
            A = eps.operator(given, SHAPE)
            x = image(2, shape=SHAPE)
            self.assert_close(A(there(x)), A(x), 1e-12)
            self.assert_close(A.ridge(there(A(x)), 0.5), A.ridge(A(x), 0.5), 1e-6)

    def test_derivatives(self):
        shape = (3, 4, 4)
        lam = torch.tensor(0.3, dtype=torch.float64)
        for spec in ("inpaint_random:missing=0.5", "blur_gaussian:std=1,size=3,border=valid"):
            A = eps.operator(spec, shape)
            x, z = there(image(shape=shape)), there(image(seed=1, shape=shape))
            for function, inputs in (
                (A, [x]),
                (A.proximal, [z, A(x), lam]),
                (A.pivot, [A(x), z, there(lam), lam]),
            ):
                leaves = [i.detach().clone().requires_grad_() for i in inputs]
                self.assertTrue(torch.autograd.gradcheck(function, leaves))
                self.assertTrue(torch.autograd.gradgradcheck(function, leaves))

    def test_the_stream_of_the_caller_is_used(self):
        if DEVICE == "cpu":
            self.skipTest("skipped: a CPU has no streams")
        A = eps.operator("blur_gaussian:std=2,size=17", (3, 512, 512))
        x = image(8, shape=(3, 512, 512)).to(DEVICE)
        wanted = A(x * 3).cpu()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            late = x * 1
            for _ in range(200):  # what a read on another stream would come before
                late = late * 1.0
            y = A(late * 3)
        side.synchronize()
        self.assert_close(y, wanted, 1e-9)

    def test_wrong_devices_and_too_little_memory_raise(self):
        if DEVICE == "cpu":
            self.skipTest("skipped: there is one device")
        A = eps.operator("identity", SHAPE)
        with self.assertRaisesRegex(eps.Error, "a tensor on cuda:0 is wanted, got cpu"):
            A.proximal(there(image(shape=SHAPE)), image(shape=SHAPE), 0.1)
        with self.assertRaisesRegex(eps.Error, "found .* GPUs"):
            eps.operator("identity", SHAPE, device="cuda:99")
        large = torch.zeros(1, device=DEVICE).expand(400, 3, 16384, 16384)
        with self.assertRaises(torch.cuda.OutOfMemoryError):
            eps.operator("blur_gaussian:std=1,size=5")(large)
        torch.cuda.empty_cache()


class Networks(OnAGpu):
    @needs_model("faces64-eps")
    def test_those_that_come_with_eps(self):
        for name in eps.models():
            cpu = eps.load(name, device="cpu", dtype="float32")
            gpu = eps.load(name, device=DEVICE, dtype="float32")
            module = gpu.module().eval()
            self.assertEqual(str(next(module.parameters()).device), DEVICE)
            for sigma in (0.05, 2.0):
                x = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0)) * sigma
                if gpu.inputs == "prior":
                    answers = cpu(x, sigma), gpu(there(x), sigma), module(there(x), sigma)
                else:
                    A = eps.operator("inpaint_random:missing=0.7", (3, 64, 64))
                    y = A(x) * 0.3
                    query = eps.query(A, there(y), there(x), sigma, 0.05, gpu.inputs)
                    answers = cpu(eps.query(A, y, x, sigma, 0.05, cpu.inputs)), gpu(query), module(query)
                for answer in answers[1:]:
                    with self.subTest(name, sigma=sigma):
                        self.assert_close(answer.detach(), answers[0], 1e-3)

    @needs_model("faces64-prior")
    def test_a_changed_module_is_evaluated_in_cpp(self):
        module = eps.load("faces64-prior", device=DEVICE).module()
        with torch.no_grad():
            next(iter(module.parameters())).add_(0.01)
        x = there(torch.randn(1, 3, 64, 64))
        network = module.network(DEVICE, dtype="float32")
        self.assert_close(network(x, 1.0), module(x, 1.0).detach().cpu(), 1e-3)
        with tempfile.TemporaryDirectory() as folder:
            module.save(f"{folder}/a.safetensors")
            again = eps.load(f"{folder}/a.safetensors", device=DEVICE, dtype="float32")
        self.assert_close(again(x, 1.0), network(x, 1.0).cpu(), 1e-6)

    def test_a_loop_of_ones_own_learns(self):
        for preconditioning in ("edm", "anisotropic"):
            torch.manual_seed(0)
            A = eps.operator("inpaint_random:missing=0.5", (1, 12, 12))
            posterior = eps.Posterior(Small(2), "eps", preconditioning=preconditioning).to(DEVICE)
            optimiser = torch.optim.Adam(posterior.parameters(), 3e-3)
            rows = torch.linspace(-1, 1, 12, device=DEVICE)
            losses = []
            for _ in range(80):
                x0 = (torch.rand(32, 1, 1, 1, device=DEVICE) - 0.5) * rows[:, None] + 0 * rows
                y = A.observe(x0, 0.05)
                sigma = torch.exp(torch.randn(32, device=DEVICE) * 1.2 - 0.4)
                x_t = x0 + sigma.reshape(-1, 1, 1, 1) * torch.randn_like(x0)
                loss = posterior.loss(eps.query(A, y, x_t, sigma, 0.05), x0).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append(loss.item())
            self.assertLess(sum(losses[-20:]), 0.9 * sum(losses[:20]), preconditioning)
            r = eps.restore(y[0], A, 0.05, samples=2, steps=3, model=posterior)
            self.assertEqual(str(r.mean.device), "cpu")
            self.assertTrue(torch.isfinite(r.samples).all())

    def test_training_by_the_library(self):
        with tempfile.TemporaryDirectory() as folder:
            network = eps.train(f"{folder}/a", **dict(TINY, device=DEVICE, tasks="random_inpainting"))
        self.assertEqual(network.device, DEVICE)
        A = eps.operator("inpaint_random:missing=0.5", SHAPE)
        x = there(image(shape=SHAPE))
        query = eps.query(A, A(x), x, 1.0, 0.05, network.inputs)
        self.assertEqual(str(network(query).device), DEVICE)


class Restorations(OnAGpu):
    """The noise of samples is the CPU's, so samples differ by the rounding of float32."""

    @needs_model("faces64-eps")
    def test_samples_are_those_of_the_cpu(self):
        face = eps.read_image(eps.find_in_models("faces64-images/07.png"))
        A = eps.operator("super_resolution:factor=4", (3, 64, 64))
        y = A.observe(face.double(), 0.05, seed=0)
        options = dict(noise=0.05, samples=2, steps=4, seed=3)
        wanted = eps.restore(y, A, model=eps.load("faces64-eps", device="cpu"), **options)
        network = eps.load("faces64-eps", device=DEVICE, dtype="float32")
        for given in (y, there(y), y.numpy()):
            got = eps.restore(given, A, model=network, **options)
            self.assertEqual({str(t.device) for t in (got.samples, got.mean, got.interval, got.y)}, {"cpu"})
            self.assertLess((got.samples - wanted.samples).abs().max(), 0.02)
        drawn = eps.method("eps", steps=4)(there(y), A, 0.05, network, samples=2, seed=3)
        self.assert_close(drawn.clamp(-1, 1), wanted.samples, 0.02)
        got.sheet()
        with tempfile.TemporaryDirectory() as folder:
            numpy.save(f"{folder}/y.npy", y)
            from_file = eps.restore(f"{folder}/y.npy", A, model=network, **options)
            self.assertLess((from_file.samples - wanted.samples).abs().max(), 0.02)
            got.save(f"{folder}/a")
            eps.write_image(f"{folder}/a.png", there(face))
            torch.testing.assert_close(eps.read_image(f"{folder}/a.png"), face)
        self.assertEqual(eps.pixels(there(face)).shape, (64, 64, 3))

    @needs_model("faces64-eps")
    def test_functions_of_your_own_are_called_at_every_evaluation(self):
        """What a replay of recorded kernels would not do; gain.to(x) is a copy from the CPU at every call."""
        gain, called = torch.rand(64, 1, dtype=torch.float64), []

        def dim(x):
            called.append(len(called))
            return x * gain.to(x)

        A = eps.operator((dim, dim), (3, 64, 64), basis=(lambda x: x, lambda c: c, gain.square()))
        y = A.observe(eps.read_image(eps.find_in_models("faces64-images/07.png")).double(), 0.05, seed=0)
        network = eps.load("faces64-eps", device=DEVICE, dtype="float32")
        counts = []
        for steps in (2, 4, 8):  # the first finds what the operator keeps
            method, begin = eps.method("eps", steps=steps), len(called)
            got = method(y, A, 0.05, network, samples=2, seed=3)
            counts.append(len(called) - begin)
        self.assertGreaterEqual(counts[2] - counts[1], 8 - 4)
        wanted = method(y, A, 0.05, eps.load("faces64-eps", device="cpu"), samples=2, seed=3)
        self.assert_close(got.clamp(-1, 1), wanted.clamp(-1, 1), 0.02)

    @needs_model("faces64-prior")
    def test_images_of_a_prior_are_those_of_the_cpu(self):
        wanted = eps.sample(eps.load("faces64-prior", device="cpu"), 2, steps=3)
        got = eps.sample(eps.load("faces64-prior", device=DEVICE, dtype="float32"), 2, steps=3)
        self.assertLess((got.cpu() - wanted).abs().max(), 0.02)

    def test_any_function_is_a_prior_where_the_measurement_is(self):
        A = eps.operator("inpaint_random:missing=0.5", (1, 12, 12))
        y = there(A.observe(image(shape=(1, 12, 12)), 0.5, seed=0))
        seen = set()

        def white(x, sigma):
            seen.update((str(x.device), str(sigma.device)))
            return x / (1 + sigma**2)

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.one = torch.nn.Parameter(torch.ones(1))

            def forward(self, x, sigma):
                return white(x, sigma) * self.one

        measured = (A.measured().expand(1, 1, 12, 12) == 1)[0]
        wanted = (y[0].cpu() / 1.25)[measured]
        for prior in (white, eps.Prior(white, device=DEVICE), Module().to(DEVICE)):
            samples = eps.method("mmps", steps=60)(y, A, 0.5, prior, samples=400).cpu()
            bound = 5 * (0.2 / 400) ** 0.5
            self.assertLess((samples.mean(0)[measured] - wanted).abs().max(), bound + 0.03)
            self.assertLess(abs(samples.std(0)[~measured].mean() - 1), 0.05)
        self.assertEqual(seen, {DEVICE})
        differentiated = eps.method("dps", steps=3)(y, A, 0.5, Module().to(DEVICE))
        self.assertEqual(str(differentiated.device), DEVICE)
        result = eps.restore(y, A, 0.5, model=white, method="mmps", samples=2, steps=3)
        self.assertTrue(torch.isfinite(result.samples).all())

    def test_metrics_are_those_of_the_cpu(self):
        truth, A = image(2, shape=SHAPE), eps.operator("identity", SHAPE)
        samples = (truth + 0.1 * torch.randn(3, 2, *SHAPE)).clamp(-1, 1)
        y = A.observe(truth, 0.1, seed=0)
        wanted = eps.metrics(samples, truth, operator=A, y=y, noise=0.1)
        got = eps.metrics(there(samples), there(truth), operator=A, y=there(y), noise=0.1)
        self.assertEqual(str(got), str(wanted))  # which finds nan equal to nan

    @needs_model("photos-eps")
    def test_the_large_network_is_the_default_for_photographs(self):
        if DEVICE == "cpu":
            self.skipTest("skipped: a CPU has another default")
        r = eps.restore(numpy.zeros((3, 40, 40)), denoise=True, noise=0.1, samples=2, steps=2)
        self.assertEqual(r.report["model"], "photos-eps")


@unittest.skipUnless(has_device, "skipped: there is no GPU")
class Deepinv(OnAGpu):
    @needs("deepinv")
    def test_a_reconstructor(self):
        import deepinv

        import eps.deepinv

        mask = (torch.rand(1, 1, 16, 16, generator=torch.Generator().manual_seed(0)) > 0.5).float()
        noise = deepinv.physics.GaussianNoise(0.1)
        physics = deepinv.physics.Inpainting(SHAPE, mask=mask, noise_model=noise, device=DEVICE)
        y = physics(there(torch.rand(1, *SHAPE)))
        model = eps.deepinv.EPS(
            eps.Prior(lambda x, s: x / (1 + s**2), device=DEVICE), method="ddnm", steps=3, device=DEVICE
        )
        self.assertEqual(str(model(y, physics).device), DEVICE)
        ours = eps.deepinv.Physics(eps.operator("super_resolution:factor=4", SHAPE), noise=0.1)
        x = there(torch.rand(1, *SHAPE))
        self.assertEqual(str(model(ours.to(DEVICE)(x), ours).device), DEVICE)
        self.assertEqual(str(eps.deepinv.Denoiser(lambda x, s: x)(x, 0.1).device), DEVICE)


if __name__ == "__main__":
    unittest.main()
