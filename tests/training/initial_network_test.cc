// The network a run begins with: widened, it answers as before.
#include "eps/training/initial_network.h"

#include <gtest/gtest.h>

#include "tests/files.h"
#include "tests/training/training_session.h"
#include "tests/wave_network.h"

namespace eps::training {
namespace {

TEST(InitialNetwork, AWarmStartAnswersAsThePretrainedNetwork) {
  const Folder folder;
  const Dataset data = synthetic(32);
  TrainingConfig config = tiny("prior", {});
  Session prior(config, data);
  prior.steps(20);
  write_checkpoint(folder.file("prior.safetensors"), prior.trainer.average());
  for (const auto& [input, channels] : {std::pair{"palette", 6},
                                        {"pivot", 3},
                                        {"pivot_sigma", 6},
                                        {"eps", 6},
                                        {"eps_precision", 9},
                                        {"indi", 3},
                                        {"i2sb", 3}}) {
    config = tuned_from(folder.file("prior.safetensors"), input);
    Session tuned(config, data);
    const TrainingGroup batch = tuned.source.draw(0, 4).groups[0];
    const Checkpoint old = prior.trainer.average(), fresh = tuned.trainer.average();
    EXPECT_EQ(fresh.network.config().in_channels, channels);
    Query bare{batch.query.x, batch.query.sigma};
    bare.labels = batch.query.labels;
    EXPECT_TRUE(identical(denoise(fresh.network, fresh.preconditioning, fresh.input, batch.query),
                          denoise(old.network, old.preconditioning, old.input, bare)))
        << input;
    if (std::string(input) == "eps") write_checkpoint(folder.file("eps.safetensors"), fresh);
  }
  // What eps_precision shows begins with what eps does.
  config = tuned_from(folder.file("eps.safetensors"), "eps_precision");
  Session more(config, data);
  const Checkpoint old = read_checkpoint(folder.file("eps.safetensors"));
  const Checkpoint fresh = more.trainer.average();
  const Query query = more.source.draw(0, 4).groups[0].query;
  Query narrow = query;
  narrow.side = query.side.slice(1, 0, 3);
  EXPECT_TRUE(
      denoise(fresh.network, fresh.preconditioning, fresh.input, query)
          .allclose(denoise(old.network, old.preconditioning, old.input, narrow), 1e-5, 1e-5));
}

TEST(InitialNetwork, AWarmStartMakesRoomForTheLinearEstimate) {
  const Folder folder;
  const Dataset data = synthetic(32);
  TrainingConfig config = tiny("eps", {"blur_motion:length=5,angle=30"});
  config.preconditioning = "anisotropic";
  Session narrow(config, data);
  narrow.steps(5);
  const std::string file = folder.file("eps.safetensors");
  write_checkpoint(file, narrow.trainer.average());

  config.start = file;
  config.show_skip = true;
  Session wide(config, data);
  EXPECT_EQ(wide.trainer.average().network.config().in_channels, 9);
  const Query query = wide.source.draw(0, 4).groups[0].query;
  const auto answer = [&](const Checkpoint& model) {
    return denoise(model.network, model.preconditioning, model.input, query);
  };
  const Tensor before = answer(wide.trainer.average());
  EXPECT_TRUE(before.allclose(answer(narrow.trainer.average()), 1e-5, 1e-5));
  wide.steps(5);
  EXPECT_FALSE(answer(wide.trainer.average()).allclose(before, 1e-5, 1e-5));

  // A network keeps what it is shown, in its file and in runs that start from it.
  write_checkpoint(file, wide.trainer.average());
  config.show_skip = false;
  const Checkpoint again = initial_network(config, data);
  EXPECT_TRUE(again.input.has(Channel::skip));
  EXPECT_EQ(again.network.config().in_channels, 9);
  config.preconditioning = "edm";
  EXPECT_EQ(error_of([&] { initial_network(config, data); }),
            file + ": a network with the input c_skip x needs preconditioning=anisotropic");
  // A further channel goes before the skip, whose weights move behind it.
  config.preconditioning = "anisotropic";
  config.input = "eps_precision";
  const Checkpoint more = initial_network(config, data);
  EXPECT_EQ(more.input, parse_input("eps_precision+skip"));
  Query wider = query;
  wider.side = at::cat({query.side, waves(query.side.sizes().vec())}, 1);
  EXPECT_TRUE(denoise(more.network, more.preconditioning, more.input, wider)
                  .allclose(answer(again), 1e-5, 1e-5));
}

// Channels are known by name, in whatever order they stand.
TEST(InitialNetwork, AWarmStartFindsEachChannelInItsNewPlace) {
  const Folder folder;
  const Dataset data = synthetic(32);
  TrainingConfig config = tiny("eps_precision", {"identity"});
  config.preconditioning = "anisotropic";
  config.input = "pivot+y+precision+skip";
  Session before(config, data);
  before.steps(5);
  config.start = folder.file("before.safetensors");
  write_checkpoint(config.start, before.trainer.average());
  for (const char* input : {"pivot+skip+precision+y", "pivot+precision+deviation+skip+y"}) {
    SCOPED_TRACE(input);
    config.input = input;
    Session after(config, data);
    const Checkpoint old = before.trainer.average(), fresh = after.trainer.average();
    EXPECT_EQ(fresh.input, parse_input(input));
    EXPECT_TRUE(denoise(fresh.network,
                        fresh.preconditioning,
                        fresh.input,
                        after.source.draw(0, 4).groups[0].query)
                    .allclose(denoise(old.network,
                                      old.preconditioning,
                                      old.input,
                                      before.source.draw(0, 4).groups[0].query),
                              1e-5,
                              1e-5));
    after.steps(1);
  }
}

TEST(InitialNetwork, ChannelsThatMeanSomethingElseAreRefused) {
  const Folder folder;
  const Dataset data = synthetic(32);
  TrainingConfig config = tiny("eps_precision", {"identity"});
  config.preconditioning = "anisotropic";
  config.start = folder.file("eps_precision.safetensors");
  TrainingConfig scratch = config;
  scratch.start = "";
  write_checkpoint(config.start, initial_network(scratch, data));
  config.input = "eps";  // y and c_skip x are as many channels as y and the precision
  config.show_skip = true;
  EXPECT_EQ(error_of([&] { initial_network(config, data); }),
            config.start +
                ": a network with 6 side channels for the input eps_precision; eps with "
                "show_skip has 6");
}

TEST(InitialNetwork, AllThatIsShownFitsFromScratchAndFromAPrior) {
  const Folder folder;
  const Dataset data = synthetic(32);
  const std::string file = folder.file("prior.safetensors");
  write_checkpoint(file, initial_network(tiny("prior", {}), data));
  for (const std::string& start : {std::string(), file}) {
    TrainingConfig config = tiny("eps_precision", {"identity"});
    config.preconditioning = "anisotropic";
    config.show_skip = true;
    config.start = start;
    Session session(config, data);
    EXPECT_EQ(session.trainer.network().network.config().in_channels, 12);
    session.steps(2);
    EXPECT_EQ(session.trainer.network().input, parse_input("eps_precision+skip"));
  }
  TrainingConfig config = tiny("eps", {"identity"});
  config.preconditioning = "edm";
  config.show_skip = true;
  EXPECT_EQ(error_of([&] { resolved(config); }),
            "training: show_skip needs preconditioning=anisotropic, got edm");
}

TEST(InitialNetwork, ANetworkSaysWhatItsDataAreCalledAndNotWhereTheyAre) {
  TrainingConfig config = tiny("prior", {});
  config.data = {
      "/home/her/faces-0.zip", "photos/", "synthetic_faces/x.zip", "synthetic:size=16,count=32"};
  EXPECT_EQ(initial_network(config, synthetic(32)).provenance.data,
            "faces-0.zip, photos, x.zip, synthetic:size=16,count=32");
}

TEST(InitialNetwork, AClassConditionalNetworkKeepsItsLabels) {
  const Folder folder;
  const Dataset data = read_dataset({"synthetic:size=16,count=32,kind=shapes"}, {});
  TrainingConfig config = tiny("prior", {});
  Session prior(config, data);
  prior.steps(10);
  EXPECT_EQ(prior.trainer.network().network.config().label_dim, 3);
  write_checkpoint(folder.file("prior.safetensors"), prior.trainer.average());
  config = tuned_from(folder.file("prior.safetensors"), "eps");
  Session tuned(config, data);
  EXPECT_EQ(tuned.trainer.network().network.config().label_dim, 3);
  EXPECT_EQ(tuned.source.draw(0, 4).groups[0].query.labels.sum().item<double>(), 4);
  const Dataset six = read_dataset({"synthetic:size=16,count=32,kind=mixed"}, {});
  EXPECT_EQ(error_of([&] { initial_network(config, six); }),
            config.start + ": a network for 3 classes; the data have 6");
}

}  // namespace
}  // namespace eps::training
