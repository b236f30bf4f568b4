#include "device/cuda/msm_finish.h"

#include <string.h>

#include "curve/bls12_381/ops.h"

#define GROUP g1
#include "device/cuda/msm_finish.inc.h"
#define GROUP g2
#include "device/cuda/msm_finish.inc.h"
