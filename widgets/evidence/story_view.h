#pragma once

// "Why this number": the kernels that an operator launches, and the chain of terms by which a method priced each, with
// its waves and its cycles by cause where the method knows them.

#include "methods/kernel_method.h"
#include "widgets/common/fact_list.h"

#include <QScrollArea>

#include <vector>

class QComboBox;

namespace orrery::ui {

class CycleStack;
class Label;
class WavePicture;

/// One kernel with its price; `share` of the whole answer's time.
struct KernelAnswer {
    QString kernel;
    KernelPrice price;
    KernelStory story;
    double times = 1;  ///< launched so often
    double share = 0;
    bool bound = false;  ///< the least that rates allow: it has no interval and no domain
};

class StoryView : public QScrollArea {
    Q_OBJECT
public:
    explicit StoryView(QWidget* parent = nullptr);
    /// `title`: the operator; `method`: who answers. `note`: a sentence above them; of empty kernels why there are
    /// none.
    void setKernels(const QString& title, const QString& method, std::vector<KernelAnswer> kernels,
                    const QString& note);
    std::size_t kernelCount() const { return kernels_.size(); }

private:
    void showKernel(int at);

    std::vector<KernelAnswer> kernels_;
    Label *title_, *subtitle_, *note_;
    QComboBox* kernel_;
    SectionHeader* termsHeader_;
    FactList *price_, *terms_;
    WavePicture* waves_;
    CycleStack* stack_;
};

}  // namespace orrery::ui
