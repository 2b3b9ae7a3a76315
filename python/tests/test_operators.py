"""Operators: numbers, sharing, derivatives, and operators written in Python."""
import unittest

import numpy
import torch
from support import needs

import eps

SHAPE = (3, 8, 8)
SPECS = [
    "identity",
    "inpaint_random:missing=0.5",
    "super_resolution:factor=2",
    "blur_gaussian:std=1,size=5",
    "blur_gaussian:std=1,size=5,border=valid",
    "blur_motion:length=5,angle=30,border=valid",
    "blur_pool:std=1,size=5,factor=2",
    "soft_mask:smooth=2,missing=0.2",
    "grey",
    "downscale:factor=2,filter=bicubic",
]


def specs():
    return [spec for spec in SPECS if spec.split(":")[0] in eps.operators()]


def image(batch=1, seed=0, shape=SHAPE):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(batch, *shape, generator=generator, dtype=torch.float64) * 2 - 1


class Verbs(unittest.TestCase):
    def test_pooling_averages(self):
        A = eps.operator("super_resolution:factor=2", SHAPE)
        x = image()
        self.assertEqual(A.measurement_shape, (3, 4, 4))
        torch.testing.assert_close(A(x), torch.nn.functional.avg_pool2d(x, 2))
        torch.testing.assert_close(A(x)[0], A(x[0]))  # without the batch
        torch.testing.assert_close(A(x.numpy()), A(x))  # NumPy

    def test_a_blur_is_the_convolution_of_scipy(self):
        try:
            from scipy.signal import convolve2d
        except ImportError:
            self.skipTest("skipped: there is no scipy")
        kernel = torch.rand(3, 5, dtype=torch.float64)
        A = eps.blur(kernel, SHAPE, border="valid")
        x = image()
        wanted = numpy.stack([convolve2d(c, kernel, mode="valid") for c in x[0].numpy()])
        torch.testing.assert_close(A(x)[0], torch.from_numpy(wanted))

    def test_ridge_and_proximal_solve_their_equations(self):
        for spec in specs():
            A = eps.operator(spec, SHAPE)
            y, z = A(image(2)), image(2, seed=1)
            u = A.ridge(y, 0.1)
            residual = A.adjoint(A(u)) + 0.1 * u - A.adjoint(y)
            self.assertLess(residual.abs().max(), 1e-9, spec)
            v = A.proximal(z, y, 0.1)
            residual = A.adjoint(A(v) - y) + 0.1 * (v - z)
            self.assertLess(residual.abs().max(), 1e-9, spec)

    def test_the_pivot_is_that_of_the_paper(self):
        for spec in specs():
            A = eps.operator(spec, SHAPE)
            x_t, y, sigma, noise = image(seed=1), A(image()), 0.7, 0.2
            mu = A.pivot(y, x_t, sigma, noise)
            left = mu / sigma**2 + A.adjoint(A(mu)) / noise**2
            right = x_t / sigma**2 + A.adjoint(y) / noise**2
            self.assertLess((left - right).abs().max() / right.abs().max(), 1e-9, spec)

    def test_tensors_are_shared(self):
        array = numpy.zeros((1, *SHAPE))
        A = eps.operator((lambda x: x, lambda y: y), SHAPE)
        seen = []
        own = eps.operator((lambda x: seen.append(x) or x, lambda y: y), SHAPE)
        self.assertEqual(own(array).data_ptr(), array.ctypes.data)  # all the way there and back
        self.assertEqual(seen[-1].data_ptr(), array.ctypes.data)
        self.assertEqual(A(torch.from_dlpack(torch.from_numpy(array))).data_ptr(), array.ctypes.data)
        mask = eps.operator("inpaint_random:missing=0.5", SHAPE)
        first, second = mask.parameters["mask"], mask.parameters["mask"]
        self.assertEqual(first.data_ptr(), second.data_ptr())

    def test_any_layout_and_read_only_arrays_are_taken(self):
        import warnings

        x = image(3)
        layouts = {
            "channels last": x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
            "transposed": x.transpose(2, 3).contiguous().transpose(2, 3),
            "every other": torch.stack([x, -x], -1).flatten(-2)[..., ::2],
            "expanded": x[:1].expand(3, *SHAPE),
        }
        for spec in specs():
            A = eps.operator(spec, SHAPE)
            for name, given in layouts.items():
                with self.subTest(spec, layout=name):
                    torch.testing.assert_close(A(given), A(given.contiguous()))
                    y = A(given)
                    held = torch.stack([y, -y], -1)[..., 0]  # with gaps
                    torch.testing.assert_close(A.adjoint(held), A.adjoint(y.contiguous()))
                    torch.testing.assert_close(
                        A.proximal(given, held, 0.1), A.proximal(given.contiguous(), y.contiguous(), 0.1)
                    )
        backwards, frozen = x.numpy()[:, :, ::-1], x.numpy().copy()
        frozen.flags.writeable = False
        A = eps.operator("super_resolution:factor=2", SHAPE)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            torch.testing.assert_close(A(backwards), A(x.flip(2)))
            torch.testing.assert_close(A(frozen), A(x))

    def test_a_seed_draws_the_operator(self):
        masks = [
            eps.operator("inpaint_random:missing=0.5", SHAPE, seed=seed).measured()
            for seed in (0, 0, 1)
        ]
        self.assertTrue(torch.equal(masks[0], masks[1]))
        self.assertFalse(torch.equal(masks[0], masks[2]))
        self.assertEqual(eps.operator("inpaint_random", SHAPE, batch=3).measured().shape[0], 3)

    def test_observed_noise_has_its_deviation_and_spares_holes(self):
        A = eps.operator("inpaint_random:missing=0.5", (3, 64, 64))
        x = image(4, shape=(3, 64, 64))
        noise = A.observe(x, 0.1, seed=0) - A(x)
        measured = A.measured().expand_as(noise) == 1
        self.assertEqual(noise[~measured].abs().max(), 0)
        n = int(measured.sum())
        self.assertLess(abs(noise[measured].std() / 0.1 - 1), 5 / (2 * n) ** 0.5)
        levels = torch.tensor([0.0, 0.1, 0.2, 0.3])
        each = A.observe(x, levels, seed=0) - A(x)
        torch.testing.assert_close(each, noise * 10 * levels.reshape(4, 1, 1, 1))


class AnySize(unittest.TestCase):
    """Operators of a spec without a shape."""

    def test_they_are_those_of_each_size(self):
        for spec in specs():
            A = eps.operator(spec)
            for shape in (SHAPE, (3, 12, 16)):
                with self.subTest(spec, shape=shape):
                    fixed, x = eps.operator(spec, shape), image(2, shape=shape)
                    y = A(x)
                    self.assertTrue(torch.equal(y, fixed(x)))
                    self.assertTrue(torch.equal(A(x[0]), fixed(x[0])))
                    self.assertTrue(torch.equal(A.proximal(x, y, 0.1), fixed.proximal(x, y, 0.1)))
                    self.assertTrue(torch.equal(A.pivot(y, x, 0.7, 0.2), fixed.pivot(y, x, 0.7, 0.2)))
                    self.assertTrue(torch.equal(A.adjoint(y), fixed.adjoint(y)))
                    self.assertTrue(torch.equal(A.adjoint(y[0]), fixed.adjoint(y[0])))
                    self.assertTrue(torch.equal(A.ridge(y, 0.1), fixed.ridge(y, 0.1)))
                    self.assertTrue(torch.equal(A.picture(y), fixed.picture(y)))
                    self.assertTrue(torch.equal(A.observe(x, 0.1, seed=1), fixed.observe(x, 0.1, seed=1)))
        self.assertIn("images of any size", repr(A))

    def test_methods_and_queries_take_them(self):
        A, fixed = eps.operator("super_resolution:factor=2"), eps.operator("super_resolution:factor=2", SHAPE)
        x = image()
        y = A(x)
        query = [eps.query(B, y, x, 0.7, 0.1) for B in (A, fixed)]
        self.assertTrue(torch.equal(query[0].x, query[1].x))
        options = dict(noise=0.1, model=lambda x, sigma: x / (1 + sigma**2), samples=2)
        drawn = [eps.method("ddnm", steps=3)(y[0], B, **options) for B in (A, fixed)]
        self.assertTrue(torch.equal(drawn[0], drawn[1]))
        restored = [
            eps.restore(y[0], B, method="ddnm", steps=3, **options).samples
            for B in (A, fixed, "super_resolution:factor=2")
        ]
        self.assertTrue(torch.equal(restored[0], restored[1]))
        self.assertTrue(torch.equal(restored[0], restored[2]))
        scores = [eps.metrics(x[None], x, operator=B, y=y, noise=0.1)["chi2"][0] for B in (A, fixed)]
        self.assertEqual(*scores)

    def test_what_needs_a_size_says_so(self):
        A = eps.operator("inpaint_random:missing=0.5")
        for ask in (lambda: A.image_shape, A.measured, lambda: A.parameters):
            with self.assertRaisesRegex(eps.Error, "images of any size; eps.operator"):
                ask()
        with self.assertRaisesRegex(eps.Error, 'did you mean "blur_gaussian"'):
            eps.operator("blur_gausian")
        with self.assertRaisesRegex(TypeError, "beside all but a spec"):
            eps.operator((lambda x: x, lambda y: y))

    def test_copies_are_the_operator_itself(self):
        import copy

        A = eps.operator("identity", SHAPE)
        self.assertIs(copy.deepcopy({"A": A})["A"], A)


class Derivatives(unittest.TestCase):
    """Against finite differences, to the second order, in float64."""

    def check(self, function, *inputs):
        leaves = [i.detach().clone().requires_grad_() for i in inputs]
        self.assertTrue(torch.autograd.gradcheck(function, leaves))
        self.assertTrue(torch.autograd.gradgradcheck(function, leaves))

    def test_of_all_verbs(self):
        shape = (3, 4, 4)
        names = [s.replace("size=5", "size=3").replace("length=5", "length=3") for s in specs()]
        for spec in names:
            A = eps.operator(spec, shape)
            x, z = image(shape=shape), image(seed=1, shape=shape)
            y = A(x)
            lam = torch.tensor(0.3, dtype=torch.float64)
            with self.subTest(spec):
                self.check(A, x)
                self.check(A.adjoint, y)
                self.check(A.ridge, y, lam)
                self.check(A.proximal, z, y, lam)

    def test_of_the_pivot(self):
        shape = (3, 4, 4)
        for spec in ("inpaint_random:missing=0.5", "blur_gaussian:std=1,size=3"):
            A = eps.operator(spec, shape)
            sigma = torch.tensor(0.7, dtype=torch.float64)
            noise = torch.tensor(0.2, dtype=torch.float64)
            y, x_t = A(image(shape=shape)), image(seed=1, shape=shape)
            self.check(lambda *a: A.pivot(*a), y, x_t, sigma, noise)

    def test_of_a_pivot_in_float32_at_the_noise_levels_of_networks(self):
        A = eps.operator("blur_gaussian:std=1,size=5", (3, 16, 16))
        x = image(shape=(3, 16, 16))
        for sigma in (0.01, 1.0, 80.0):
            gradients = []
            for dtype in (torch.float32, torch.float64):
                leaf = x.to(dtype, copy=True).requires_grad_()
                (A.pivot(A(x).to(dtype), leaf, sigma, 0.05) * x).sum().backward()
                gradients.append(leaf.grad.double())
            error = (gradients[0] - gradients[1]).abs().max() / gradients[1].abs().max()
            self.assertLess(error, 1e-5)

    def test_of_verbs_that_iterate(self):
        A = eps.operator((lambda x: x[:, :, 1:] - x[:, :, :-1], _differences_transposed), (1, 4, 4))
        self.assertFalse(A.has_closed_form)
        x = image(shape=(1, 4, 4))
        lam = torch.tensor(0.3, dtype=torch.float64)
        self.check(A.proximal, x, A(x), lam)


def _differences_transposed(y):
    pad = torch.nn.functional.pad
    return pad(y, (0, 0, 1, 0)) - pad(y, (0, 0, 0, 1))


class OperatorsInPython(unittest.TestCase):
    def test_two_functions_are_an_operator(self):
        x, y = image(2, shape=(1, 6, 6)), None
        A = eps.operator((lambda x: x[:, :, ::2], lambda y: _every_other_row(y)), (1, 6, 6))
        y = A(x)
        torch.testing.assert_close(y, x[:, :, ::2])
        u = A.ridge(y, 0.5)  # by conjugate gradients
        torch.testing.assert_close(u, A.adjoint(y) / 1.5)

    def test_a_basis_makes_solves_closed_forms(self):
        weights = torch.rand(1, 1, 6, 6, dtype=torch.float64)
        A = eps.operator(
            (lambda x: x * weights, lambda y: y * weights),
            (1, 6, 6),
            basis=(lambda x: x, lambda c: c, weights.square()),
        )
        self.assertTrue(A.has_closed_form)
        y = image(shape=(1, 6, 6))
        torch.testing.assert_close(A.ridge(y, 0.1), weights * y / (weights.square() + 0.1))

    @needs("scipy")
    def test_scipy_matrices_and_linear_operators_agree(self):
        from scipy import sparse
        from scipy.sparse.linalg import aslinearoperator

        matrix = sparse.random(20, 3 * 8 * 8, density=0.2, random_state=0, format="csr")
        x = image(2)
        wanted = torch.from_numpy(x.reshape(2, -1).numpy() @ matrix.T.toarray())
        for given in (matrix, matrix.tocoo(), aslinearoperator(matrix)):
            A = eps.operator(given, SHAPE)
            torch.testing.assert_close(A(x), wanted)
            back = torch.from_numpy(wanted.numpy() @ matrix.toarray()).reshape(2, *SHAPE)
            torch.testing.assert_close(A.adjoint(wanted), back)

    def test_what_python_raises_arrives(self):
        def fails(x):
            raise KeyError("my own")

        calls = []
        A = eps.operator((lambda x: calls.append(1) or (fails(x) if len(calls) > 2 else x), lambda y: y), SHAPE)
        with self.assertRaisesRegex(KeyError, "my own"):
            A(image())

    def test_wrong_answers_are_named(self):
        for function, words in [
            (lambda x: 3, "apply must return a tensor, got int"),
            (lambda x: x.sum(), "apply must map"),
        ]:
            with self.assertRaisesRegex(eps.Error, words):
                eps.operator((function, lambda y: y), SHAPE)
        with self.assertRaisesRegex(eps.Error, "adjoint must return 1 x 3 x 8 x 8"):
            eps.operator((lambda x: x[:, :1], lambda y: y), SHAPE)


def _every_other_row(y):
    x = y.new_zeros(y.shape[0], 1, 6, 6)
    x[:, :, ::2] = y
    return x


class Messages(unittest.TestCase):
    def test_errors_are_those_of_the_library(self):
        A = eps.operator("identity", SHAPE)
        for call, words in [
            (lambda: eps.operator("blur_gausian", SHAPE), 'did you mean "blur_gaussian"'),
            (lambda: A(torch.zeros(1, 3, 9, 8)), "N x 3 x 8 x 8 is wanted, got 1 x 3 x 9 x 8"),
            (lambda: A(torch.zeros(1, 3, 8, 8, dtype=torch.float16)), "float32 or float64"),
            (lambda: A.ridge(image(), -1.0), ">= 0"),
            (lambda: A.observe(image(), -0.1), "noise must be finite and >= 0, got -0.1"),
            (lambda: A.observe(image(), float("nan")), "noise must be finite and >= 0, got nan"),
            (lambda: A.observe(image(2), torch.ones(3)), "one for each of 2 images is wanted"),
            (lambda: A.observe(image(), torch.tensor(1j)), "a number, or one"),
            (lambda: eps.Prior(lambda x, sigma: x, channels=-1), "channels must be >= 0, got -1"),
            (lambda: eps.method("ddnm")(image(), A, 0.1, lambda x, s: x, steps=0), "steps must be 1 to"),
            (lambda: eps.operator("identity", (3, 8)), r"the shape \(C, H, W\)"),
        ]:
            with self.assertRaisesRegex(eps.Error, words):
                call()
        with self.assertRaisesRegex(TypeError, "a torch.Tensor, a NumPy array"):
            A("a picture")
        self.assertTrue(issubclass(eps.Error, ValueError))


class Wrong(unittest.TestCase):
    def test_a_spec_in_place_of_an_operator_is_refused_with_words(self):
        x = torch.zeros(1, 3, 8, 8)
        for call in (
            lambda: eps.query("identity", x, x, 1.0, 0.1),
            lambda: eps.pivot("identity", x, x, 1.0, 0.1),
            lambda: eps.method("ddnm")(x, "identity", 0.1, lambda x, sigma: x),
            lambda: eps.metrics(x[None], x, operator="identity", y=x, noise=0.1),
        ):
            with self.assertRaisesRegex(TypeError, r"eps.operator\(spec, \(C, H, W\)\), got str"):
                call()
        with self.assertRaisesRegex(eps.Error, "did you mean \"blur_motion\""):
            eps.operator("blur_motoin:length=9", (3, 8, 8))


if __name__ == "__main__":
    unittest.main()
