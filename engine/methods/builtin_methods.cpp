// Every method of Orrery, in the order in which the studio lists them. A method that registered itself from its own
// file would vanish from a static library, hence this list.

#include "methods/learned/device_file_method.h"
#include "methods/learned/surrogate_method.h"
#include "methods/method.h"
#include "methods/model/model_methods.h"
#include "methods/roofline/hierarchical_roofline.h"
#include "methods/roofline/llm_inference.h"
#include "methods/roofline/roofline.h"
#include "methods/system/serving_method.h"
#include "methods/system/training/closed_form_step.h"
#include "methods/system/training/learned_step.h"
#include "methods/system/training/step_distribution.h"

#include <vector>

namespace orrery {

std::span<const Method> builtinMethods() {
    static const std::vector<Method> methods = [] {
        std::vector<Method> all{rooflineMethod(), hierarchicalRooflineMethod(), llmInferenceMethod()};
        for (Method& method : modelMethods()) all.push_back(std::move(method));
        all.push_back(servingMethod());
        all.push_back(closedFormStepMethod());
        all.push_back(learnedStepMethod());
        all.push_back(stepDistributionMethod());
        all.push_back(surrogateMethod());
        all.push_back(deviceFileMethod());
        return all;
    }();
    return methods;
}

}  // namespace orrery
