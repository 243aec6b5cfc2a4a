#pragma once

// Kernels measured on the machine that the studio runs on, with a drawing of it; the table then joins the references.

#include <QDialog>

#include <vector>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace orrery::ui {
class Label;
enum class Tone;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class MeasureDialog : public QDialog {
    Q_OBJECT
public:
    explicit MeasureDialog(QWidget* parent = nullptr);
    bool isMeasuring() const;

signals:
    void measured(const QString& table);  ///< its file; the machine's drawing lies beside it

private:
    void start();
    void showProgress();
    void showMachine();
    void say(const QString& words, ui::Tone tone, const QString& tip = {});
    bool ofGpu() const;

    std::vector<QCheckBox*> kinds_, types_;
    QComboBox* machine_;
    QCheckBox* busy_;
    QLineEdit* file_;
    QProgressBar* bar_;
    QPushButton *start_, *stop_;
    ui::Label* state_;
    Background* work_;
};

}  // namespace orrery::app
