#include "app/window/pages.h"

#include "app/window/compare/compare_page.h"
#include "app/window/core/core_page.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/explore/explore_page.h"
#include "app/window/gpu/gpu_page.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/mapping/mapping_page.h"
#include "app/window/serving/serving_page.h"
#include "app/window/training/training_page.h"
#include "app/window/welcome/start_page.h"
#include "app/window/workload/workload_page.h"

namespace orrery::app {

PageList builtinPages() {
    return {
        makePage<StartPage>,     //
        makePage<HardwarePage>,  //
        makePage<WorkloadPage>,  //
        makePage<MappingPage>,   //
        makePage<GpuPage>,       //
        makePage<TrainingPage>,  //
        makePage<ServingPage>,   //
        makePage<ExplorePage>,   //
        makePage<ComparePage>,   //
        makePage<EvidencePage>,  //
        makePage<CorePage>,      //
    };
}

}  // namespace orrery::app
