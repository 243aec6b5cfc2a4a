#include "workload/models/catalogue.h"
#include "workload/models/vision.h"

#include <fmt/format.h>

namespace orrery {
namespace {

struct Entry {
    const char* id;
    const char* name;
    const char* description;
    const char* source;
    Graph (*build)(const WorkloadOptions&);
    std::int64_t image = 224;
    std::int64_t smallest = 32;  ///< image at which every layer still has a pixel
    std::int64_t multiple = 1;   ///< the image must be a multiple of this (patches)
};

const Entry entries[] = {
    {"resnet-50", "ResNet-50", "Residual convolutional network of 50 layers, version 1.5",
     "He et al., Deep Residual Learning, CVPR 2016; torchvision resnet50", buildResNet50},
};

BuiltinModel modelOf(const Entry& entry) {
    BuiltinModel model;
    model.info.id = entry.id;
    model.info.name = entry.name;
    model.info.group = "Vision";
    model.info.description = entry.description;
    model.info.hasImage = true;
    model.info.usual.image = entry.image;
    model.info.source = entry.source;
    model.build = [entry](const WorkloadOptions& options) -> Expected<ImportedGraph> {
        const std::int64_t image = options.image > 0 ? options.image : entry.image;
        if (image < entry.smallest || image % entry.multiple != 0) {
            return fail("workload.image", fmt::format("{} cannot take an image of {} pixels", entry.name, image),
                        entry.multiple > 1 ? fmt::format("a multiple of {}, {} or more", entry.multiple, entry.smallest)
                                           : fmt::format("{} or more", entry.smallest),
                        fmt::format("{} is usual", entry.image), Place{.path = "options/image"});
        }
        ImportedGraph result;
        result.name = entry.name;
        result.graph = entry.build(options);
        return result;
    };
    return model;
}

}  // namespace

std::vector<BuiltinModel> visionModels() {
    std::vector<BuiltinModel> models;
    for (const Entry& entry : entries) models.push_back(modelOf(entry));
    return models;
}

}  // namespace orrery
