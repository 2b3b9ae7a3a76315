"""eps.deepinv with the real package."""
import unittest

import torch
from support import needs, needs_model

import eps

try:
    import deepinv

    import eps.deepinv
except ImportError:
    deepinv = None

SHAPE = (3, 16, 16)


def image(count=2, seed=0, shape=SHAPE):
    return torch.rand(count, *shape, generator=torch.Generator().manual_seed(seed))


def white(x, sigma):
    """The prior N(0, 1/4) of white pixels in [-1, 1]."""
    return x * 0.25 / (0.25 + sigma**2)


@unittest.skipUnless(deepinv, "skipped: there is no deepinv")
class Deepinv(unittest.TestCase):
    def physics(self, noise=0.05):
        model = deepinv.physics.GaussianNoise(noise)
        kernel = torch.rand(1, 1, 3, 3, generator=torch.Generator().manual_seed(2)) / 4.5
        generator = torch.Generator().manual_seed(0)
        mask = (torch.rand(1, 1, 16, 16, generator=generator) > 0.5).float()
        return {
            "inpainting": deepinv.physics.Inpainting(SHAPE, mask=mask, noise_model=model),
            "denoising": deepinv.physics.Denoising(model),
            "blur_fft": deepinv.physics.BlurFFT(SHAPE, filter=kernel, noise_model=model),
            "downsampling": deepinv.physics.Downsampling(SHAPE, factor=2, filter=None, noise_model=model),
            "blur": deepinv.physics.Blur(filter=kernel, padding="valid", noise_model=model),
        }

    def test_their_physics_are_operators(self):
        for name, physics in self.physics().items():
            with self.subTest(name):
                x = image()
                y = physics.A(x)
                A = eps.deepinv.operator_of(physics, x)
                torch.testing.assert_close(A(x), y, atol=1e-5, rtol=1e-5)
                z = torch.randn_like(x).double()
                mu = A.proximal(z, y.double(), 0.1)
                residual = A.adjoint(A(mu) - y.double()) + 0.1 * (mu - z)
                self.assertLess(residual.abs().max(), 1e-5)
                if A.has_closed_form:
                    theirs = physics.prox_l2(z.float(), y, gamma=10.0)
                    torch.testing.assert_close(mu.float(), theirs, atol=1e-4, rtol=1e-4)

    def test_samples_have_the_posterior_of_a_known_prior(self):
        """White pixels of variance 1/16 in [0, 1] around 1/2, and noise of 0.2."""
        physics = self.physics(0.2)["inpainting"]
        posterior = eps.Prior(white)
        model = eps.deepinv.EPS(posterior, method="mmps", steps=60)
        torch.manual_seed(0)
        y = physics(image(1))
        sampler = deepinv.sampling.DiffusionSampler(model, max_iter=200, verbose=False)
        mean, variance = sampler(y, physics)
        measured = physics.mask.expand(1, *SHAPE) == 1
        gain = 0.0625 / (0.0625 + 0.04)
        wanted = 0.5 + gain * (y - 0.5)
        spread = gain * 0.04
        self.assertLess((mean - wanted)[measured].abs().max(), 5.5 * (spread / 200) ** 0.5 + 0.01)
        self.assertLess(abs(variance[measured].mean() / spread - 1), 0.1)
        self.assertLess(abs(variance[~measured].mean() / 0.0625 - 1), 0.1)

    def test_the_seed_of_torch_decides(self):
        physics = self.physics()["inpainting"]
        model = eps.deepinv.EPS(eps.Prior(white), method="ddnm", steps=5)
        y = physics(image(1))
        drawn = []
        for seed in (0, 0, 1):
            torch.manual_seed(seed)
            drawn.append(model(y, physics))
        self.assertTrue(torch.equal(drawn[0], drawn[1]))
        self.assertFalse(torch.equal(drawn[0], drawn[2]))

    @needs_model("faces64-eps")
    def test_a_network_fits_their_measurements(self):
        model = eps.deepinv.EPS("faces64-eps", steps=10)
        face = eps.read_image(eps._eps.find_in_models("faces64-images/07.png"))
        u = (face[None] + 1) / 2
        noise = deepinv.physics.GaussianNoise(0.025)
        mask = (torch.rand(1, 1, 64, 64, generator=torch.Generator().manual_seed(1)) > 0.5).float()
        t = torch.arange(-5.0, 6.0)
        bell = torch.exp(-(t[:, None] ** 2 + t**2) / (2 * 1.5**2))
        kernel = (bell / bell.sum())[None, None]
        for physics in (
            deepinv.physics.Inpainting((3, 64, 64), mask=mask, noise_model=noise),
            deepinv.physics.BlurFFT((3, 64, 64), filter=kernel, noise_model=noise),
        ):
            torch.manual_seed(0)
            y = physics(u)
            sample = model(y, physics)
            self.assertTrue(sample.min() > -0.3 and sample.max() < 1.3)
            residual = physics.A(sample) - y
            kept = residual[y != 0] if physics.A(u).shape == u.shape else residual
            chi2 = kept.square().mean() / 0.025**2
            self.assertLess(abs(chi2 - 1), 0.25, type(physics).__name__)

    @needs_model("photos-eps-small")
    def test_their_mask_is_restored_as_ours(self):
        photo = eps.read_image(eps.find_in_models("photos-images/dog.png"))[None, :, 100:153, 100:171]
        mask = (torch.rand(1, 1, 53, 71, generator=torch.Generator().manual_seed(1)) > 0.5).float()
        noise = deepinv.physics.GaussianNoise(0.02)
        physics = deepinv.physics.Inpainting((3, 53, 71), mask=mask, noise_model=noise)
        torch.manual_seed(0)
        y = physics((photo + 1) / 2)
        network = eps.load("photos-eps-small", device="cpu")
        theirs = eps.deepinv.EPS(network, steps=3)(y, physics, seed=4)
        A = eps.inpainting(mask[0, 0], (3, 53, 71))
        ours = eps.method("eps", steps=3)(2 * y.double() - mask, A, 0.04, network, seed=4)
        torch.testing.assert_close(2 * theirs.double() - 1, ours, atol=1e-4, rtol=0)

    def test_our_operators_are_their_physics(self):
        for spec in ("super_resolution:factor=4", "blur_gaussian:std=1,size=5,border=valid"):
            physics = eps.deepinv.Physics(eps.operator(spec, SHAPE), noise=0.1)
            x = image()
            y = physics(x)
            self.assertLess(physics.adjointness_test(x), 1e-3)
            self.assertLess(abs((y - physics.A(x)).std() / 0.1 - 1), 0.2)
            self.assertEqual(physics.A_dagger(y).shape, x.shape)
            z = torch.zeros_like(x)
            gradient = physics.A_adjoint(physics.A(physics.prox_l2(z, y, 5.0)) - y) * 5
            self.assertLess((gradient + physics.prox_l2(z, y, 5.0)).abs().max(), 1e-4)

    def test_our_operators_are_restored_through_their_interface(self):
        A = eps.operator("super_resolution:factor=4", SHAPE)
        physics = eps.deepinv.Physics(A, noise=0.05)
        y = physics(image(1))
        theirs = eps.deepinv.EPS(eps.Prior(white), method="ddnm", steps=5)(y, physics, seed=4)
        ours = eps.method("ddnm", steps=5)(2 * y.double() - 1, A, 0.1, white, seed=4)
        torch.testing.assert_close(2 * theirs.double() - 1, ours, atol=1e-6, rtol=0)

    @needs_model("faces64-prior")
    def test_their_diffpir_and_ours_restore_alike(self):
        """The same prior and measurement in one process; benchmarks/python_peers.py has more of both."""
        prior = eps.load("faces64-prior", device="cpu")
        face = eps.read_image(eps.find_in_models("faces64-images/07.png")).double()
        A = eps.operator("super_resolution:factor=4", (3, 64, 64))
        y = A.observe(face, noise=0.05, seed=0)
        ours = eps.method("diffpir", steps=15)(y, A, 0.05, prior, samples=2).clamp(-1, 1)
        diffpir = deepinv.sampling.DiffPIR(
            eps.deepinv.Denoiser(prior), deepinv.optim.data_fidelity.L2(), sigma=0.025, max_iter=15
        )
        physics, u = eps.deepinv.Physics(A, noise=0.025), (y[None].float() + 1) / 2
        theirs = torch.cat([2 * diffpir(u, physics, seed=k) - 1 for k in range(2)]).double().clamp(-1, 1)
        blurred = torch.nn.functional.interpolate(y[None], scale_factor=4)
        psnr = [
            eps.metrics(mean[None, None], face[None])["psnr"][0]
            for mean in (ours.mean(0), theirs.mean(0), blurred[0].clamp(-1, 1))
        ]
        self.assertLess(abs(psnr[0] - psnr[1]), 1.5)
        self.assertGreater(min(psnr[:2]), psnr[2] + 1)

    def test_denoisers_go_both_ways(self):
        theirs = eps.deepinv.Denoiser(white)
        ours = eps.deepinv.prior(theirs)
        x = torch.randn(2, *SHAPE)
        sigma = torch.full((2, 1, 1, 1), 0.3)
        torch.testing.assert_close(ours(x, sigma), white(x, sigma))

    def test_wrong_physics_are_refused(self):
        model = eps.deepinv.EPS(eps.Prior(white), method="ddnm")
        with self.assertRaisesRegex(eps.Error, "no Gaussian noise"):
            model(image(1), deepinv.physics.Inpainting(SHAPE, mask=0.5))
        with self.assertRaisesRegex(eps.Error, "a prior needs a method"):
            eps.deepinv.EPS(eps.Prior(white))


if __name__ == "__main__":
    unittest.main()
