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

constexpr VggSize vgg11{"VGG-11", {1, 1, 2, 2, 2}}, vgg13{"VGG-13", {2, 2, 2, 2, 2}}, vgg16{"VGG-16", {2, 2, 3, 3, 3}},
    vgg19{"VGG-19", {2, 2, 4, 4, 4}};
constexpr ResNetSize resnet18{"ResNet-18", {2, 2, 2, 2}, false}, resnet34{"ResNet-34", {3, 4, 6, 3}, false},
    resnet50{"ResNet-50", {3, 4, 6, 3}}, resnet101{"ResNet-101", {3, 4, 23, 3}}, resnet152{"ResNet-152", {3, 8, 36, 3}},
    wideResnet50{"Wide ResNet-50-2", {3, 4, 6, 3}, true, 1, 128},
    resnext50{"ResNeXt-50 32×4d", {3, 4, 6, 3}, true, 32, 4};
constexpr VitSize vitTi16{"ViT-Ti/16", 16, 192, 3, 12}, vitS16{"ViT-S/16", 16, 384, 6, 12},
    vitB16{"ViT-B/16", 16, 768, 12, 12}, vitL16{"ViT-L/16", 16, 1024, 16, 24};

template <const VggSize& size>
Graph vgg(const WorkloadOptions& options) {
    return buildVgg(size, options);
}
template <const ResNetSize& size>
Graph resnet(const WorkloadOptions& options) {
    return buildResNet(size, options);
}
template <const VitSize& size>
Graph vit(const WorkloadOptions& options) {
    return buildVit(size, options);
}

constexpr std::array entries{
    Entry{"alexnet", "AlexNet", "Vision", "Five convolutions and three fully connected layers",
          "Krizhevsky, arXiv:1404.5997; torchvision alexnet", buildAlexNet, 224, 63},
    Entry{"vgg-11", "VGG-11", "Vision", "Eight 3×3 convolutions and three fully connected layers",
          "Simonyan and Zisserman, ICLR 2015; torchvision vgg11", vgg<vgg11>},
    Entry{"vgg-13", "VGG-13", "Vision", "Ten 3×3 convolutions and three fully connected layers",
          "Simonyan and Zisserman, ICLR 2015; torchvision vgg13", vgg<vgg13>},
    Entry{"vgg-16", "VGG-16", "Vision", "Thirteen 3×3 convolutions and three fully connected layers",
          "Simonyan and Zisserman, ICLR 2015; torchvision vgg16", vgg<vgg16>},
    Entry{"vgg-19", "VGG-19", "Vision", "Sixteen 3×3 convolutions and three fully connected layers",
          "Simonyan and Zisserman, ICLR 2015; torchvision vgg19", vgg<vgg19>},
    Entry{"resnet-18", "ResNet-18", "Vision",
          "Residual convolutional network of 18 layers: two 3×3 convolutions a block",
          "He et al., CVPR 2016; torchvision resnet18", resnet<resnet18>},
    Entry{"resnet-34", "ResNet-34", "Vision",
          "Residual convolutional network of 34 layers: two 3×3 convolutions a block",
          "He et al., CVPR 2016; torchvision resnet34", resnet<resnet34>},
    Entry{"resnet-50", "ResNet-50", "Vision", "Residual convolutional network of 50 layers, version 1.5",
          "He et al., CVPR 2016; torchvision resnet50", resnet<resnet50>},
    Entry{"resnet-101", "ResNet-101", "Vision", "Residual convolutional network of 101 layers, version 1.5",
          "He et al., CVPR 2016; torchvision resnet101", resnet<resnet101>},
    Entry{"resnet-152", "ResNet-152", "Vision", "Residual convolutional network of 152 layers, version 1.5",
          "He et al., CVPR 2016; torchvision resnet152", resnet<resnet152>},
    Entry{"wide-resnet-50-2", "Wide ResNet-50-2", "Vision", "ResNet-50 with 3×3 convolutions of twice the channels",
          "Zagoruyko and Komodakis, BMVC 2016; torchvision wide_resnet50_2", resnet<wideResnet50>},
    Entry{"resnext-50-32x4d", "ResNeXt-50 32×4d", "Vision", "ResNet-50 with grouped 3×3 convolutions, 32 groups",
          "Xie et al., CVPR 2017; torchvision resnext50_32x4d", resnet<resnext50>},
    Entry{"mobilenet-v2", "MobileNetV2", "Vision", "Inverted residual blocks around depthwise convolutions",
          "Sandler et al., CVPR 2018; torchvision mobilenet_v2", buildMobileNetV2},
    Entry{"efficientnet-b0", "EfficientNet-B0", "Vision", "Inverted residual blocks with squeeze-and-excitation",
          "Tan and Le, ICML 2019; torchvision efficientnet_b0", buildEfficientNetB0},
    Entry{"vit-ti-16", "ViT-Ti/16", "Vision", "Vision transformer, 12 layers on patches of 16×16 pixels",
          "Touvron et al., ICML 2021; timm vit_tiny_patch16_224", vit<vitTi16>, 224, 16, 16},
    Entry{"vit-s-16", "ViT-S/16", "Vision", "Vision transformer, 12 layers on patches of 16×16 pixels",
          "Touvron et al., ICML 2021; timm vit_small_patch16_224", vit<vitS16>, 224, 16, 16},
    Entry{"vit-b-16", "ViT-B/16", "Vision", "Vision transformer, 12 layers on patches of 16×16 pixels",
          "Dosovitskiy et al., ICLR 2021; torchvision vit_b_16", vit<vitB16>, 224, 16, 16},
    Entry{"vit-l-16", "ViT-L/16", "Vision", "Vision transformer, 24 layers on patches of 16×16 pixels",
          "Dosovitskiy et al., ICLR 2021; torchvision vit_l_16", vit<vitL16>, 224, 16, 16},
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
