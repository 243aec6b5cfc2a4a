// How the block analyser's tab is put together.

#include "app/window/core/answer_side.h"
#include "app/window/core/block_tab.h"
#include "app/window/form_parts.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/core/block_listing.h"
#include "widgets/plots/bar_list.h"

#include <QClipboard>
#include <QFormLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

constexpr int assemblyPatience = 120;  ///< ms after the last key before the assembler runs

}  // namespace

BlockTab::BlockTab(QWidget* parent) : QWidget(parent), assembler_(new Assembler(this)) {
    setObjectName(QStringLiteral("core.block"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(buildInput(this));
    row->addWidget(buildAnswer(this), 1);
    soon_.setSingleShot(true);
    soon_.setInterval(assemblyPatience);
    connect(&soon_, &QTimer::timeout, this, [this] {
        waiting_ = true;
        assembler_->assemble(editor_->toPlainText(),
                             input() == Input::Intel ? AssemblySyntax::Intel : AssemblySyntax::Att);
    });
    connect(assembler_, &Assembler::assembled, this, [this](const std::vector<std::uint8_t>& code) {
        waiting_ = false;
        analyse({core_->currentData().toString().toStdString(), {}, code, corrected_.toStdString()});
    });
    connect(assembler_, &Assembler::refused, this, [this](const Diagnostic& why) {
        waiting_ = false;
        refuse(turn_, why);
    });
    showNothing();
    nameCores();
}

QWidget* BlockTab::buildInput(QWidget* parent) {
    const ui::Theme& theme = ui::Theme::instance();
    const int unit = theme.unit();
    auto* side = new QWidget(parent);
    side->setFixedWidth(static_cast<int>(42 * unit * ui::formGrowth(theme.scale())));
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(unit * 3 / 2, unit, unit, unit);
    column->setSpacing(unit);
    auto* form = new QFormLayout;
    form->setSpacing(unit);
    core_ = namedChoice(side, "core.block.core", tr("Core"), tr("The core whose ports and decoders count"));
    for (const std::string& id : block::coreIds())
        core_->addItem(QString::fromStdString(id), QString::fromStdString(id));
    selectData(core_, QStringLiteral("skl"));
    input_ = namedChoice(side, "core.block.input", tr("Input"),
                         tr("What you type: the bytes themselves, or instructions that GNU as turns into bytes"));
    input_->addItem(tr("machine code, hexadecimal"), static_cast<int>(Input::Machine));
    input_->addItem(tr("assembly, Intel syntax"), static_cast<int>(Input::Intel));
    input_->addItem(tr("assembly, AT&T syntax"), static_cast<int>(Input::Att));
    form->addRow(tr("Core"), core_);
    correction_ = namedChoice(side, "core.block.correction", tr("Correction"),
                              tr("What measured blocks of this core say beyond the bounds: a file that the command "
                                 "orrery-cli block --fit has learned from your own table"));
    form->addRow(tr("Input"), input_);
    form->addRow(tr("Correction"), correction_);
    setCorrection({});
    column->addLayout(form);
    editor_ = named(new QPlainTextEdit(side), "core.block.code", tr("Code of the block"),
                    tr("The instructions of the block; # begins a comment. The answer appears as you type"));
    editor_->setFont(theme.font(ui::FontRole::Mono));
    editor_->setPlaceholderText(
        tr("48 01 d8\n48 29 d8\n\nTwo digits per byte; blanks, lines, 0x, \\x and commas may separate them. # begins a "
           "comment."));
    editor_->setTabChangesFocus(true);
    editor_->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    connect(&ui::Theme::instance(), &ui::Theme::changed, editor_,
            [this] { editor_->setFont(ui::Theme::instance().font(ui::FontRole::Mono)); });
    column->addWidget(editor_, 1);
    problem_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Bad, side);
    problem_->setObjectName(QStringLiteral("core.block.problem"));
    problem_->setWordWrap(true);
    problem_->hide();
    column->addWidget(problem_);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(unit / 2);
    auto* example = named(new QPushButton(tr("Example"), side), "core.block.example", tr("Show an example"),
                          tr("A product and a sum along an array: the sum waits for itself"));
    command_ = named(new QPushButton(tr("Command line"), side), "core.block.command", tr("Copy as command line"),
                     tr("Copies the equivalent orrery-cli command"));
    export_ = named(new QPushButton(tr("Export …"), side), "core.block.export", tr("Export the listing or the bounds"),
                    tr("The listing as SVG, PNG or PDF, or as CSV with every port; the bounds as CSV"));
    for (QPushButton* button : {example, command_, export_}) buttons->addWidget(button);
    column->addLayout(buttons);

    connect(core_, &QComboBox::activated, this, &BlockTab::asked);
    connect(input_, &QComboBox::activated, this, &BlockTab::asked);
    connect(correction_, &QComboBox::activated, this, &BlockTab::chooseCorrection);
    connect(editor_, &QPlainTextEdit::textChanged, this, &BlockTab::asked);
    connect(example, &QPushButton::clicked, this, &BlockTab::showExample);
    connect(command_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(command()); });
    connect(export_, &QPushButton::clicked, this, [this] {
        emit exportWanted(tr("Export the block"), QStringLiteral("block.svg"),
                          tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf);;CSV of the listing (*.csv)"),
                          [this](const QString& file) { return listing_->exportTo(file); });
    });
    return side;
}

QWidget* BlockTab::buildAnswer(QWidget* parent) {
    AnswerSide side(parent, QStringLiteral("core.block"), {});
    headline_ = side.headline;
    sub_ = side.sub;
    QSplitter* panes = side.addPanes(tr("Listing and bounds"));
    auto* scroll = named(new QScrollArea(panes), "core.block.scroll", tr("The block"), tr("The block, port by port"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    listing_ = new ui::BlockListing(scroll);
    scroll->setWidget(listing_);
    bounds_ = new ui::BarList(QStringLiteral("core.block.bounds"), tr("Bounds"),
                              tr("Cycles per iteration that each part of the core needs; the largest decides"),
                              tr("This shows what each part of the core needs for one iteration."), panes);
    panes->addWidget(scroll);
    panes->addWidget(bounds_);
    side.finish(panes);
    veil_ = side.veil;
    return side.widget;
}

}  // namespace orrery::app
