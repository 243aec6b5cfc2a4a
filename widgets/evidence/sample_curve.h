#pragma once

// What each further sample of a device buys: the error that is said, and the one that samples taken later showed.

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct SampleMark {
    int samples = 0;
    double said = 0;       ///< share: 0.1 is 10 %
    double found = 0;      ///< of samples taken later; NaN where there are too few
    bool planned = false;  ///< not measured yet
};

class SampleCurve : public QWidget {
    Q_OBJECT
public:
    explicit SampleCurve(QWidget* parent = nullptr);
    void setMarks(std::vector<SampleMark> marks);
    const std::vector<SampleMark>& marks() const { return marks_; }
    QSize sizeHint() const override { return {420, 260}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<SampleMark> marks_;
};

}  // namespace orrery::ui
