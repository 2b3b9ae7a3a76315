// Hostile heads of HTTP requests.
#include "eps/serve/request_head.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(request_head) {
  const serve::HeadRules rules{.token = "0123456789abcdef", .body_bytes = 1000};
  try {
    serve::parse_request_head(bytes, rules);
  } catch (const serve::Refusal& refusal) {
    fail("request_head: ", refusal.status, ", ", refusal.words);
  }
}
