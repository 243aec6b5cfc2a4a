#include "app/window/gpu/occupancy_tab.h"

#include "app/window/form_parts.h"
#include "app/window/gpu/gpu_question.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/gpu/occupancy_view.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace orrery::app {

using gpusim::BlockNeed;

OccupancyTab::OccupancyTab(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    auto* row = new QHBoxLayout;
    const auto add = [&](const QString& text, QSpinBox* box, BlockNeed need) {
        auto* label = new ui::Label(text, ui::FontRole::Body, ui::Tone::Muted, this);
        label->setBuddy(box);
        row->addWidget(label);
        row->addWidget(box);
        connect(box, &QSpinBox::valueChanged, this,
                [this, need](int value) { take(need, need == BlockNeed::SharedMemory ? value * 1024 : value); });
        return box;
    };
    registers_ = add(tr("Registers"),
                     namedNumber(this, "gpu.occupancy.registers", tr("Registers of a thread"),
                                 tr("Registers that the compiler gives a thread"), 16, 255),
                     BlockNeed::Registers);
    shared_ = add(tr("Shared memory"),
                  namedNumber(this, "gpu.occupancy.shared", tr("Shared memory of a block"),
                              tr("Shared memory of a block, in KiB"), 0, 1024),
                  BlockNeed::SharedMemory);
    shared_->setSuffix(tr(" KiB"));
    threads_ = add(tr("Threads"),
                   namedNumber(this, "gpu.occupancy.threads", tr("Threads of a block"),
                               tr("Threads of a block, rounded up to whole warps of 32"), 32, 1024),
                   BlockNeed::Threads);
    threads_->setSingleStep(32);
    reset_ = named(new QPushButton(tr("As the kernel"), this), "gpu.occupancy.reset", tr("As the kernel"),
                   tr("What a block of the kernel needs"));
    row->addWidget(reset_);
    row->addStretch(1);
    result_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, this);
    result_->setObjectName(QStringLiteral("gpu.occupancy.result"));
    result_->setElided(true);
    view_ = new ui::OccupancyView(this);
    column->addLayout(row);
    column->addWidget(result_);
    column->addWidget(view_, 1);
    connect(view_, &ui::OccupancyView::needChosen, this, &OccupancyTab::take);
    connect(reset_, &QPushButton::clicked, this, [this] {
        chosen_ = false;
        block_ = kernel_;
        show();
    });
    block_.grid = {1 << 20, 1, 1};
    block_.block = {256, 1, 1};
    block_.registers = 64;
    kernel_ = block_;
    show();
}

void OccupancyTab::setMachine(const std::optional<gpusim::Machine>& machine) {
    machine_ = machine;
    show();
}

void OccupancyTab::setKernel(const gpusim::KernelHeader& kernel) {
    kernel_ = kernel;
    // The calculator asks what a multiprocessor has room for, not how long the grid is.
    kernel_.grid = {1 << 20, 1, 1};
    kernel_.block = {kernel.threads(), 1, 1};
    if (!chosen_) block_ = kernel_;
    show();
}

void OccupancyTab::take(BlockNeed need, int value) {
    if (gpusim::needOf(block_, need) == value) return;
    chosen_ = true;
    gpusim::setNeed(block_, need, value);
    show();
}

void OccupancyTab::show() {
    const QSignalBlocker a(registers_), b(shared_), c(threads_);
    registers_->setValue(block_.registers);
    shared_->setValue((block_.sharedBytes + 1023) / 1024);
    threads_->setValue(block_.threads());
    reset_->setEnabled(chosen_);
    for (QWidget* each :
         {static_cast<QWidget*>(registers_), static_cast<QWidget*>(shared_), static_cast<QWidget*>(threads_)})
        each->setEnabled(machine_.has_value());
    if (!machine_) {
        result_->setFullText({});
        return view_->clear(tr("The drawn design is no GPU that can be simulated."));
    }
    threads_->setSingleStep(machine_->lanes);
    threads_->setToolTip(machine_->lanes > 32 ? tr("Threads of a block, rounded up to whole wavefronts of 64")
                                              : tr("Threads of a block, rounded up to whole warps of 32"));
    const auto fit = gpusim::occupancy(*machine_, block_);
    const int warps = fit.fits * block_.warps();
    if (fit.fits < 1) {
        result_->setTone(ui::Tone::Bad);
        result_->setFullText(tr("Not even one block fits: too little %1").arg(ui::qs(limitWords(fit.limitedBy))));
    } else {
        result_->setTone(ui::Tone::Normal);
        const bool wavefronts = machine_->lanes > 32;
        result_->setFullText((fit.fits == 1 ? (wavefronts ? tr("%1 block, %2 of %3 wavefronts (%4), limited by %5")
                                                          : tr("%1 block, %2 of %3 warps (%4), limited by %5"))
                                            : (wavefronts ? tr("%1 blocks, %2 of %3 wavefronts (%4), limited by %5")
                                                          : tr("%1 blocks, %2 of %3 warps (%4), limited by %5")))
                                 .arg(fit.fits)
                                 .arg(warps)
                                 .arg(machine_->warps())
                                 .arg(ui::percentText(static_cast<double>(warps) / machine_->warps()),
                                      ui::qs(limitWords(fit.limitedBy))));
    }
    view_->setBlock(*machine_, block_);
}

}  // namespace orrery::app
