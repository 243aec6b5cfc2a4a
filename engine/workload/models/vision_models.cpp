#include "workload/models/catalogue.h"
#include "workload/models/vision.h"

#include <fmt/format.h>

#include <array>

namespace orrery {
namespace {

struct Entry {
    const char* id;
    const char* name;
    const char* group;
    const char* description;
    const char* source;
    Graph (*build)(const WorkloadOptions&);
    std::int64_t image = 224;
    std::int64_t smallest = 32;  ///< image at which every layer still has a pixel
    std::int64_t multiple = 1;   ///< the image must be a multiple of this (patches)
};

constexpr std::array entries{
    Entry{"alexnet", "AlexNet", "Vision", "Five convolutions and three fully connected layers",
          "Krizhevsky, arXiv:1404.5997; torchvision alexnet", buildAlexNet, 224, 63},
    Entry{"vgg-13", "VGG-13", "Vision", "Ten 3×3 convolutions and three fully connected layers",
          "Simonyan and Zisserman, ICLR 2015; torchvision vgg13", buildVgg13},
    Entry{"vgg-16", "VGG-16", "Vision", "Thirteen 3×3 convolutions and three fully connected layers",
          "Simonyan and Zisserman, ICLR 2015; torchvision vgg16", buildVgg16},
    Entry{"resnet-50", "ResNet-50", "Vision", "Residual convolutional network of 50 layers, version 1.5",
          "He et al., CVPR 2016; torchvision resnet50", buildResNet50},
    Entry{"mobilenet-v2", "MobileNetV2", "Vision", "Inverted residual blocks around depthwise convolutions",
          "Sandler et al., CVPR 2018; torchvision mobilenet_v2", buildMobileNetV2},
    Entry{"efficientnet-b0", "EfficientNet-B0", "Vision", "Inverted residual blocks with squeeze-and-excitation",
          "Tan and Le, ICML 2019; torchvision efficientnet_b0", buildEfficientNetB0},
    Entry{"vit-b-16", "ViT-B/16", "Vision", "Vision transformer, 12 layers on patches of 16×16 pixels",
          "Dosovitskiy et al., ICLR 2021; torchvision vit_b_16", buildVitB16, 224, 16, 16},
    Entry{"stable-diffusion-1.5", "Stable Diffusion 1.5 UNet", "Diffusion",
          "Denoising U-Net with cross-attention, one step on a latent of an eighth of the picture's side",
          "Rombach et al., CVPR 2022; unet/config.json of Stable Diffusion 1.5", buildStableDiffusionUnet, 512, 64, 64},
    Entry{"dit-xl-2", "DiT-XL/2", "Diffusion", "Diffusion transformer, 28 layers, one step",
          "Peebles and Xie, ICCV 2023", buildDitXl2, 256, 16, 16},
};

BuiltinModel modelOf(const Entry& entry) {
    BuiltinModel model;
    model.info.id = entry.id;
    model.info.name = entry.name;
    model.info.group = entry.group;
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
