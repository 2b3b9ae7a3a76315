// The program `eps serve` from its start to its end, however that comes.
#include "tests/program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "eps/serve/server.h"

namespace eps::serve {
namespace {

// A running `eps serve`.
class Program {
 public:
  explicit Program(const std::string& folder) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::setenv("TMPDIR", folder.c_str(), 1);
      ::execl(EPS_PROGRAM, "eps", "serve", "--port", "0", "--model", "faces64-eps", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1 && byte != '\n') address_ += byte;
    ::close(ends[0]);
  }
  // Returns the exit status; -1 of a process that was killed.
  int end(int signal) const {
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  const std::string& address() const { return address_; }

 private:
  pid_t process_ = -1;
  std::string address_;
};

class ServeProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_server()) GTEST_SKIP() << "built without cpp-httplib";
  }
  Folder folder_;
};

TEST_F(ServeProgram, RemovesItsFilesAndThoseOfOneThatWasKilled) {
  const Program killed(folder_.file(""));
  EXPECT_TRUE(killed.address().starts_with("http://127.0.0.1:")) << killed.address();
  EXPECT_NE(killed.address().find("/?token="), std::string::npos);
  EXPECT_EQ(killed.end(SIGKILL), -1);
  ASSERT_EQ(folder_.names().size(), 1u);
  const std::string left = folder_.names()[0];
  const Program next(folder_.file(""));
  ASSERT_EQ(folder_.names().size(), 1u);
  EXPECT_NE(folder_.names()[0], left);
  EXPECT_NE(next.address(), killed.address());
  EXPECT_EQ(next.end(SIGTERM), 0);
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(ServeProgram, RefusesWhatItCannotServe) {
  const auto words = [](const std::string& arguments) {
    const Outcome outcome = run_program(EPS_PROGRAM, "serve --port 0 " + arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    return outcome.output;
  };
  EXPECT_NE(words("--model no_such").find("no_such"), std::string::npos);
  EXPECT_NE(words("--model faces64-eps --host 0.0.0.0").find("a token of your own is wanted"),
            std::string::npos);
  EXPECT_NE(words("--model faces64-eps --host 192.0.2.1 --token 0123456789abcdef")
                .find("cannot be listened to"),
            std::string::npos);
  EXPECT_NE(words("--port 70000").find("70000"), std::string::npos);
}

}  // namespace
}  // namespace eps::serve
