#pragma once

// What the tests of the document and the window share: designs, projects, and a studio with a home of its own.

#include "app/document/document.h"
#include "hardware/files/catalogue.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

namespace orrery::app::test {

#define QVERIFY_DONE(expression)                                                         \
    do {                                                                                 \
        const auto done_ = (expression);                                                 \
        QVERIFY2(done_.has_value(), done_ ? "" : orrery::toText(done_.error()).c_str()); \
    } while (false)

inline Project smallProject() {
    Project project;
    project.name = "Small";
    project.hardware.push_back(loadHardware("h100-sxm").value().hardware);
    project.hardware.push_back(loadHardware("t4").value().hardware);
    WorkloadOptions decode;
    decode.phase = Phase::Decode;
    decode.sequence = 512;
    project.workloads.push_back({"Llama decode", {"llama-2-7b", decode}, {}});
    project.workloads.push_back({"ResNet", {"resnet-50", {}}, {}});
    project.scenarios.push_back({project.hardware.front().name, "Llama decode", {}});
    project.methods = {"roofline", "hierarchical-roofline"};
    return project;
}

/// The component with this name in the current design.
inline ComponentPath pathOf(const Document& document, const char* name) {
    return findComponent(document.hardware()->root, name).value();
}

inline double bandwidthOf(const Document& document, const char* name) {
    const Component* component = componentAt(document.hardware()->root, pathOf(document, name));
    return std::get<Measure>(component->find("bandwidth")->value).si;
}

}  // namespace orrery::app::test
