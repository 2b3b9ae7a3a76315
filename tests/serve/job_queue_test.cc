// The queue of restorations: order, limits, cancelling, expiry.
#include "eps/serve/job_queue.h"

#include <gtest/gtest.h>

#include <future>

#include "eps/serve/exchange.h"
#include "eps/serve/job_run.h"
#include "eps/serve/private_folder.h"
#include "tests/files.h"

namespace eps::serve {
namespace {

// A queue whose restorations wait for a word of the test.
class JobQueueTest : public testing::Test {
 protected:
  JobRequest request() {
    const std::string folder = folder_.file(std::to_string(made_++));
    std::filesystem::create_directory(folder);
    put_bytes(folder + "/upload", "1234");
    return {.folder = folder};
  }
  // Runs until the test releases it, or it is cancelled.
  void run(Job& job) {
    ran_.push_back(job.id);
    while (!released_) {
      if (job.is_cancelled()) throw JobStopped{};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (fails_) fail(job.request.folder, "/upload: is broken\nand more");
  }
  std::unique_ptr<JobQueue> queue() {
    return std::make_unique<JobQueue>(limits_, [this](Job& job) { run(job); });
  }
  static JobState end_of(const Job& job) {
    for (;;) {
      const JobState state = job.wait(0, std::chrono::milliseconds(2)).second.state;
      if (is_finished(state)) return state;
    }
  }
  static void wait_until_running(const Job& job) {
    while (job.status().state == JobState::queued) std::this_thread::yield();
  }

  Folder folder_;
  ServeLimits limits_{.waiting = 2};
  std::atomic<bool> released_ = false;
  bool fails_ = false;
  int made_ = 0;
  std::vector<std::string> ran_;
};

TEST_F(JobQueueTest, RunsInOrderAndKeepsItsLimit) {
  const auto all = queue();
  const auto first = all->add(request());
  wait_until_running(*first);
  const auto second = all->add(request()), third = all->add(request());
  EXPECT_EQ(second->status().position, 1);
  EXPECT_EQ(third->status().position, 2);
  try {
    all->add(request());
    ADD_FAILURE() << "a third waits";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status, 429);
  }
  EXPECT_EQ(all->waiting(), 2);
  released_ = true;
  EXPECT_EQ(end_of(*third), JobState::done);
  EXPECT_EQ(ran_, (std::vector<std::string>{first->id, second->id, third->id}));
  EXPECT_EQ(third->status().position, 0);
}

TEST_F(JobQueueTest, CancelsWhatWaitsAndWhatRuns) {
  const auto all = queue();
  const auto first = all->add(request());
  wait_until_running(*first);
  const auto second = all->add(request()), third = all->add(request());
  EXPECT_FALSE(all->remove(second->id));
  EXPECT_EQ(second->status().state, JobState::cancelled);
  EXPECT_EQ(third->status().position, 1);
  EXPECT_FALSE(all->remove(first->id));
  EXPECT_EQ(end_of(*first), JobState::cancelled);
  released_ = true;
  EXPECT_EQ(end_of(*third), JobState::done);
  EXPECT_TRUE(all->remove(third->id));
  EXPECT_FALSE(std::filesystem::exists(third->request.folder));
  EXPECT_EQ(all->find(third->id), nullptr);
  EXPECT_THROW(all->remove(third->id), Refusal);
  EXPECT_EQ(ran_.size(), 2u);
}

TEST_F(JobQueueTest, FailsWithOneLineThatHasNoPrivateFolder) {
  released_ = fails_ = true;
  const auto all = queue();
  const auto job = all->add(request());
  EXPECT_EQ(end_of(*job), JobState::failed);
  EXPECT_EQ(job->status().error, "upload: is broken");
}

TEST_F(JobQueueTest, ForgetsWhatIsTooOldOrTooMuch) {
  released_ = true;
  limits_.kept = 2;
  auto all = queue();
  const auto first = all->add(request());
  end_of(*first);
  const auto second = all->add(request());
  end_of(*second);
  const auto third = all->add(request());
  end_of(*third);
  all->expire();
  EXPECT_EQ(all->all(), (std::vector<std::shared_ptr<Job>>{second, third}));
  EXPECT_FALSE(std::filesystem::exists(first->request.folder));
  all.reset();
  limits_.kept_bytes = 7;  // of files of four bytes each
  all = queue();
  const auto fourth = all->add(request());
  end_of(*fourth);
  const auto fifth = all->add(request());
  end_of(*fifth);
  all->expire();
  EXPECT_EQ(all->all(), std::vector<std::shared_ptr<Job>>{fifth});
  // What is made of a result later counts, too.
  all.reset();
  limits_.kept_bytes = 9;
  all = queue();
  const auto sixth = all->add(request());
  end_of(*sixth);
  const auto seventh = all->add(request());
  end_of(*seventh);
  all->expire();
  EXPECT_EQ(all->all().size(), 2u);
  put_bytes(seventh->request.folder + "/result.zip", "1234");
  all->expire();
  EXPECT_EQ(all->all(), std::vector<std::shared_ptr<Job>>{seventh});
  all.reset();
  limits_.kept_time = std::chrono::seconds(-1);
  all = queue();
  end_of(*all->add(request()));
  all->expire();
  EXPECT_TRUE(all->all().empty());
}

TEST_F(JobQueueTest, EndsWhileOneRuns) {
  auto all = queue();
  const auto job = all->add(request());
  wait_until_running(*job);
  all.reset();
  EXPECT_EQ(job->status().state, JobState::cancelled);
}

TEST(PrivateFolder, IsForItsOwnerAloneAndLeavesNothing) {
  const Folder parent;
  ::setenv("TMPDIR", parent.file("").c_str(), 1);
  {
    const PrivateFolder folder;
    const auto allowed = std::filesystem::status(folder.path()).permissions();
    EXPECT_EQ(allowed, std::filesystem::perms::owner_all);
    put_bytes(folder.path() + "/a", "1");
    const PrivateFolder other;  // leaves that of a living process alone
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/a"));
    EXPECT_EQ(parent.names().size(), 2u);
  }
  EXPECT_TRUE(parent.names().empty());
  // What a killed process left has a lock that nobody holds.
  const std::string left = parent.file("eps-serve-AAAAAA");
  std::filesystem::create_directories(left + "/job");
  put_bytes(left + "/job/a", "1");
  put_bytes(left + "/lock", "");
  { const PrivateFolder next; }
  EXPECT_TRUE(parent.names().empty());
  ::unsetenv("TMPDIR");
}

TEST(PublicWords, HaveNoPrivateFolder) {
  const std::string job = "/tmp/x/0123456789abcdef", words = job + "/image/a.png: broken";
  EXPECT_EQ(public_words(words, "/tmp/x"), "a.png: broken");
  EXPECT_EQ(public_words(words, job), "a.png: broken");
  EXPECT_EQ(public_words("a " + job + "/mask/m.png, " + job + "/kernel/k.npy", job),
            "a m.png, k.npy");
  EXPECT_EQ(public_words("/tmp/y/a.png", "/tmp/x"), "/tmp/y/a.png");
  EXPECT_EQ(public_words("/tmp/x/abc", "/tmp/x"), "abc");
}

TEST(RandomDigits, Differ) {
  EXPECT_EQ(random_digits(16).size(), 32u);
  EXPECT_EQ(random_digits(16).find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(random_digits(16), random_digits(16));
}

}  // namespace
}  // namespace eps::serve
