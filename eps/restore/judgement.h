// What the samples of a restoration say of its operator.
#pragma once

#include "eps/restore/kernel_trial.h"
#include "eps/restore/restore.h"

namespace eps {

// Adds the tests of the residual to the report, and what they say of the operator. Where they or
// chi2 speak against it, a rehearsal tells how much of that is the network's own. problem: not
// whitened, with the sigma_y of the whitened one. samples: of the whole image, also where a part of
// it is shown.
void judge(const RestorationRequest& request,
           const TrialSampler& sampler,
           const Problem& problem,
           const OperatorChoice& chosen,
           const Checkpoint& network,
           const Tensor& samples,
           RestorationResult& result);

}  // namespace eps
